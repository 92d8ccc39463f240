import { describe, expect, test } from 'vitest';
import {
  asyncVerifier,
  ES256_TOKEN,
  ec,
  ecHeader,
  grantToken,
  ISSUER,
  jws,
  NOW,
  NOW_SECONDS,
  outcome,
  rsa,
  rsaHeader,
  serviceKeys,
  standardPayload,
  verifier,
  verifyWithNode,
} from '../test/signing.ts';
import { createKindVerifier, type OtherKind } from './kind-verifier.ts';
import { tokenKinds } from './token-kinds.ts';
import { createAsyncTokenVerifier, createTokenVerifier } from './token-verifier.ts';
import type { Developers } from './whose-tokens.ts';

/** Signs any header, as an attacker with a signature of the service, or an earlier release, could have. */
const signedHeader = (header: object | string) => outcome(jws(header, standardPayload));

describe('a genuine token', () => {
  test('is accepted with RS256 and with ES256, and answers what it says', () => {
    const verdict = verifier.verify(grantToken(), { now: NOW });

    expect(verdict).toMatchObject({
      ok: true,
      header: rsaHeader,
      payload: standardPayload,
      claims: {
        issuer: ISSUER,
        developerId: 'dev_1',
        principalId: 'user_42',
        grantId: 'grnt_1',
        issuedAt: new Date((NOW_SECONDS - 60) * 1_000),
        expiresAt: new Date((NOW_SECONDS + 3_600) * 1_000),
      },
    });
    expect(outcome(grantToken({}, ecHeader, ec))).toBe('accepted');
  });

  test('is accepted by an asynchronous verifier too, with the same answer', async () => {
    for (const token of [grantToken(), grantToken({}, ecHeader, ec)]) {
      expect(await asyncVerifier.verify(token, { now: NOW })).toEqual(verifier.verify(token, { now: NOW }));
    }
  });

  test('needs no `typ`, and has it in any case', () => {
    const { typ: _, ...untyped } = rsaHeader;

    expect(signedHeader(untyped)).toBe('accepted');
    for (const typ of ['JWT', 'jwt', 'at+jwt', 'AT+JWT', 'application/at+jwt']) {
      expect(signedHeader({ ...rsaHeader, typ })).toBe('accepted');
    }
  });
});

describe('the documented vectors', () => {
  const anyLifetime = createTokenVerifier({
    keys: () => serviceKeys,
    issuer: ISSUER,
    storedGrantDecides: true,
    verifySignature: verifyWithNode,
  });
  const payload = Buffer.from(ES256_TOKEN.split('.')[1] ?? '', 'base64url').toString();
  const expected = { now: NOW, audience: 'https://api.example.test' };
  const answer = (token: string) => {
    const verdict = anyLifetime.verify(token, expected);
    return verdict.ok ? 'accepted' : verdict.reason;
  };

  test('the ES256 token verifies, and a server refuses only its long life', () => {
    expect(answer(ES256_TOKEN)).toBe('accepted');
    expect(outcome(ES256_TOKEN, expected)).toBe('malformed');
  });

  test.each([
    ['RS256 by thumbprint', `{"alg":"RS256","kid":"${rsa.kid}","typ":"at+jwt"}`, 'm8aooQVGUcUqM8fzD1xECWkM'],
    [
      'RS256 by a month no longer published',
      '{"alg":"RS256","kid":"service-2019-01"}',
      'bd6hsYx1l1LubKSOiJEUApYr',
    ],
    ['RS256 without a key id', '{"alg":"RS256"}', 'JJBFKA-9LolYbgYgo-9f6KtX'],
  ])('%s is signed and accepted as documented', (_, header, signatureBegins) => {
    const token = jws(header, payload);

    expect(token.split('.')[2]?.slice(0, 24)).toBe(signatureBegins);
    expect(answer(token)).toBe('accepted');
  });

  test.each(['service-2019-13', 'other'])('the key id %s names no key', (kid) => {
    expect(answer(jws({ alg: 'RS256', kid }, payload))).toBe('key_not_found');
  });

  test('an ES256 token cannot be signed by a key of a month, or by none', () => {
    expect(answer(jws({ alg: 'ES256', kid: 'service-2026-01' }, payload, ec))).toBe('key_not_found');
    expect(answer(jws({ alg: 'ES256' }, payload, ec))).toBe('key_not_found');
  });
});

describe('times', () => {
  test.each([
    ['missing', { exp: undefined }, 'malformed'],
    ['text', { exp: String(NOW_SECONDS + 60) }, 'malformed'],
    ['a fraction', { exp: NOW_SECONDS + 0.5 }, 'malformed'],
    ['negative', { exp: -1 }, 'malformed'],
    ['null', { exp: null }, 'malformed'],
    ['beyond every calendar', { exp: 1e300 }, 'malformed'],
    ['in milliseconds', { exp: NOW_SECONDS * 1_000 }, 'malformed'],
    ['in the past', { exp: NOW_SECONDS - 1 }, 'expired'],
    ['now', { exp: NOW_SECONDS }, 'expired'],
    ['a second ahead', { exp: NOW_SECONDS + 1 }, 'accepted'],
  ])('J15: with `exp` %s a token is judged by it', (_, change, result) => {
    expect(outcome(grantToken(change))).toBe(result);
  });

  test('J15: a number that overflows is refused', () => {
    const payload = JSON.stringify({ ...standardPayload, exp: 1 }).replace('"exp":1', '"exp":1e999');

    expect(outcome(jws(rsaHeader, payload))).toBe('malformed');
  });

  test.each(['iat', 'nbf'])('J15: `%s` may be 60 seconds ahead and no more', (claim) => {
    expect(outcome(grantToken({ [claim]: NOW_SECONDS + 60 }))).toBe('accepted');
    expect(outcome(grantToken({ [claim]: NOW_SECONDS + 61 }))).toBe('not_yet_valid');
    expect(outcome(grantToken({ [claim]: '1' }))).toBe('malformed');
    expect(outcome(grantToken({ [claim]: undefined }))).toBe('accepted');
  });

  test('J15: no token lives longer than the longest grant', () => {
    const year = 365 * 86_400;

    expect(outcome(grantToken({ iat: NOW_SECONDS, exp: NOW_SECONDS + year }))).toBe('accepted');
    expect(outcome(grantToken({ iat: NOW_SECONDS, exp: NOW_SECONDS + year + 1 }))).toBe('malformed');
    expect(outcome(grantToken({ iat: undefined, exp: NOW_SECONDS + year + 1 }))).toBe('malformed');
  });

  test('J15: a clock that is no date takes nothing', () => {
    expect(outcome(grantToken(), { now: new Date(Number.NaN) })).toBe('expired');
  });

  test('a tolerance after `exp` is as long as it was set, and 60 seconds at most', () => {
    const setup = {
      keys: () => serviceKeys,
      issuer: ISSUER,
      developerId: 'dev_1',
      verifySignature: verifyWithNode,
    };
    const tolerant = createTokenVerifier({ ...setup, expirySkewSeconds: 5 });

    expect(tolerant.verify(grantToken({ exp: NOW_SECONDS - 4 }), { now: NOW }).ok).toBe(true);
    expect(tolerant.verify(grantToken({ exp: NOW_SECONDS - 5 }), { now: NOW }).ok).toBe(false);
    for (const seconds of [61, -1, Number.NaN]) {
      expect(() => createTokenVerifier({ ...setup, expirySkewSeconds: seconds })).toThrow(RangeError);
    }
  });
});

describe('issuer and audience', () => {
  test.each([
    undefined,
    null,
    '',
    `${ISSUER}/`,
    ISSUER.toUpperCase(),
    'https://other.example.test',
    [ISSUER],
  ])('J16: `iss` %j is not ours', (iss) => {
    expect(outcome(grantToken({ iss }))).toBe('issuer_mismatch');
  });

  test.each([
    ['the same', 'https://api.example.test', 'accepted'],
    ['one of several', ['https://other.example.test', 'https://api.example.test'], 'accepted'],
    ['missing', undefined, 'audience_mismatch'],
    ['another', 'https://other.example.test', 'audience_mismatch'],
    ['longer', 'https://api.example.test.attacker.example', 'audience_mismatch'],
    ['shorter', 'https://api.example', 'audience_mismatch'],
    [
      'only a beginning of each in a list',
      ['https://api.example.test/v1', 'https://api'],
      'audience_mismatch',
    ],
    ['an empty list', [], 'audience_mismatch'],
    ['an object', { 'https://api.example.test': true }, 'audience_mismatch'],
  ])('J16: when an audience is asked for and the token’s is %s', (_, aud, result) => {
    expect(outcome(grantToken({ aud }), { audience: 'https://api.example.test' })).toBe(result);
  });

  test('a token for an audience is taken where none is asked for, and says which it is for', () => {
    const verdict = verifier.verify(grantToken({ aud: 'https://api.example.test' }), { now: NOW });

    expect(verdict).toMatchObject({ ok: true, claims: { audience: 'https://api.example.test' } });
  });
});

describe('kinds', () => {
  const kindVerifier = (kind: OtherKind) =>
    createKindVerifier(kind, { keys: () => serviceKeys, issuer: ISSUER, verifySignature: verifyWithNode });
  const kinds = Object.keys(tokenKinds).filter((kind): kind is OtherKind => kind !== 'grant');
  const tokenOf = (kind: OtherKind) => jws({ ...rsaHeader, typ: tokenKinds[kind].types[0] }, standardPayload);

  test.each(kinds)('J17: a %s passes for itself and for nothing else', (kind) => {
    expect(outcome(tokenOf(kind))).toBe('typ_not_allowed');
    for (const other of kinds) {
      const verdict = kindVerifier(other)(tokenOf(kind), { now: NOW });
      expect(verdict.ok ? 'accepted' : verdict.reason).toBe(other === kind ? 'accepted' : 'typ_not_allowed');
    }
  });

  test.each(kinds)('J17: a grant token does not pass for a %s, nor does a token without `typ`', (kind) => {
    for (const token of [grantToken(), jws({ alg: 'RS256' }, standardPayload)]) {
      expect(kindVerifier(kind)(token, { now: NOW })).toEqual({ ok: false, reason: 'typ_not_allowed' });
    }
  });

  test.each(['kb+jwt', 'dpop+jwt'])('J17: a %s, which others sign, passes for nothing', (typ) => {
    const token = jws({ ...rsaHeader, typ }, standardPayload);

    expect(outcome(token)).toBe('typ_not_allowed');
    for (const kind of kinds) expect(kindVerifier(kind)(token, { now: NOW }).ok).toBe(false);
  });

  test('a credential may say in its header that it is a credential, and names its issuer by DID', () => {
    const issuer = 'did:web:auth.example.test';
    const token = jws({ ...rsaHeader, typ: 'vc+jwt', cty: 'vc' }, { ...standardPayload, iss: issuer });

    expect(kindVerifier('verifiable-credential')(token, { now: NOW, issuer }).ok).toBe(true);
    expect(kindVerifier('verifiable-credential')(token, { now: NOW })).toMatchObject({
      reason: 'issuer_mismatch',
    });
  });

  test('a checkpoint needs no issuer and no end', () => {
    const token = jws(
      { ...rsaHeader, typ: 'audit-checkpoint+jwt' },
      { dev: 'dev_1', seq: 7, iat: NOW_SECONDS },
    );

    expect(kindVerifier('audit-checkpoint')(token, { now: NOW }).ok).toBe(true);
  });
});

describe('developers', () => {
  const setup = { keys: () => serviceKeys, issuer: ISSUER, verifySignature: verifyWithNode };
  const reasonFrom = (whose: Developers, change: object) => {
    const verdict = createTokenVerifier({ ...setup, ...whose }).verify(grantToken(change), { now: NOW });
    return verdict.ok ? 'accepted' : verdict.reason;
  };
  const ofOther = {
    dev: 'dev_2',
    'urn:service:grant': { ...standardPayload['urn:service:grant'], developer_id: 'dev_2' },
  };

  test("J23: another account's genuine token is refused, with the same person, scopes and audience", () => {
    expect(reasonFrom({ developerId: 'dev_1' }, {})).toBe('accepted');
    expect(reasonFrom({ developerId: 'dev_1' }, ofOther)).toBe('developer_mismatch');
    expect(reasonFrom({ developerId: 'dev_1' }, { dev: 'dev_2' })).toBe('claims_inconsistent');
    expect(reasonFrom({ developerId: 'dev_' }, {})).toBe('developer_mismatch');
  });

  test('J23: a list names several developers', () => {
    const developerId = ['dev_1', 'dev_2'];

    expect(reasonFrom({ developerId }, {})).toBe('accepted');
    expect(reasonFrom({ developerId }, ofOther)).toBe('accepted');
    expect(reasonFrom({ developerId: ['dev_3'] }, ofOther)).toBe('developer_mismatch');
  });

  test("J23: a sandbox account's token is refused unless the verifier takes such tokens", () => {
    const sandbox = { sandbox: true };

    expect(reasonFrom({ developerId: 'dev_1' }, sandbox)).toBe('sandbox_not_allowed');
    expect(reasonFrom({ developerId: 'dev_1', allowSandbox: false }, sandbox)).toBe('sandbox_not_allowed');
    expect(reasonFrom({ developerId: 'dev_1', allowSandbox: true }, sandbox)).toBe('accepted');
    expect(reasonFrom({ developerId: 'dev_1', allowSandbox: true }, {})).toBe('accepted');
  });

  test('J23: a verifier without a developer cannot be made, and says where to get the id', () => {
    const make = (developerId: unknown) => () => {
      const whose: object = { developerId };
      return createTokenVerifier({ ...setup, ...(whose as Developers) });
    };
    const sentence =
      'developerId is required: all accounts of a service sign with the same keys. ' +
      'Take yours from the answer to sign-up or from GET /v1/me.';

    expect(make(undefined)).toThrow(new TypeError(sentence));
    expect(make(null)).toThrow(new TypeError(sentence));
    for (const wrong of ['', [], [''], [7], Array.from({ length: 101 }, (_, n) => `dev_${n}`)]) {
      expect(make(wrong)).toThrow(RangeError);
    }
    expect(make(Array.from({ length: 100 }, (_, n) => `dev_${n}`))).not.toThrow();
    expect(() => createAsyncTokenVerifier({ ...setup, verifySignature: async () => true } as never)).toThrow(
      new TypeError(sentence),
    );
  });

  test('J23: the asynchronous verifier judges alike', async () => {
    const later = createAsyncTokenVerifier({
      ...setup,
      developerId: 'dev_2',
      verifySignature: async (check) => verifyWithNode(check),
    });

    expect(await later.verify(grantToken(ofOther), { now: NOW })).toMatchObject({ ok: true });
    expect(await later.verify(grantToken(), { now: NOW })).toEqual({
      ok: false,
      reason: 'developer_mismatch',
    });
  });

  test('the service itself takes the tokens of all its accounts, and compares them with the stored grant', () => {
    expect(reasonFrom({ storedGrantDecides: true }, ofOther)).toBe('accepted');
    expect(reasonFrom({ storedGrantDecides: true }, { sandbox: true })).toBe('accepted');
  });
});

describe('claims', () => {
  test.each([
    ['no `sub`', { sub: undefined }, 'claims_missing'],
    ['an empty `jti`', { jti: '' }, 'claims_missing'],
    ['`dev` that is no text', { dev: 7 }, 'claims_missing'],
    ['no scopes in either form', { scp: undefined, scope: undefined }, 'claims_missing'],
    ['an alias that differs', { agt: 'did:web:attacker.example' }, 'claims_inconsistent'],
    ['an alias that is null', { grnt: null }, 'claims_inconsistent'],
  ])('J18: a token with %s is refused', (_, change, reason) => {
    expect(outcome(grantToken(change))).toBe(reason);
  });

  test('a token that is bound to a key needs the proof of that key', () => {
    const bound = grantToken({ cnf: { jkt: 'thumbprint' } });

    expect(outcome(bound)).toBe('dpop_required');
    expect(outcome(bound, { provedKeyThumbprint: 'other' })).toBe('dpop_required');
    expect(outcome(bound, { provedKeyThumbprint: 'thumbprint' })).toBe('accepted');
    expect(outcome(grantToken(), { provedKeyThumbprint: 'thumbprint' })).toBe('dpop_required');
    expect(outcome(grantToken({ cnf: { 'x5t#S256': 'abc' } }))).toBe('claims_inconsistent');
  });

  test('J22: details that cannot be read do not make the token invalid; the enforcer refuses them', () => {
    for (const details of [null, {}, 'text', [{}], [{ type: 7 }]]) {
      const verdict = verifier.verify(grantToken({ authorization_details: details }), { now: NOW });
      expect(verdict).toMatchObject({ ok: true, claims: { authorizationDetails: details } });
    }
  });
});
