import { createHash } from 'node:crypto';
import { decodeJwt, exportJWK, generateKeyPair, SignJWT } from 'jose';
import { describe, expect, test } from 'vitest';
import { grantTo, sharedSandbox, signedBy } from '../../../../test/app/flow.ts';
import { type Developer, type Service, startApp } from '../../../../test/app/start-app.ts';
import { digestOf, disclosureOf } from './sd-jwt.rules.ts';

const start = sharedSandbox();
const NONCE = 'n-of-the-verifier';
const AUDIENCE = 'https://shop.test';

async function holder(developer: Developer, members: object = {}, alg = 'ES256') {
  const { publicKey, privateKey } = await generateKeyPair(alg);
  const { grantId } = await grantTo(developer);
  const holderJwk = await exportJWK(publicKey);
  const body = { grantId, format: 'sd-jwt', holderJwk, ...members };
  const answer = await developer('POST', '/v1/credentials', body);
  expect(answer.statusCode, answer.body).toBe(201);
  const { credential, id } = answer.json();
  const [issuerJwt = '', ...rest] = String(credential).split('~');
  return {
    id,
    grantId,
    issuerJwt,
    disclosures: rest.slice(0, -1),
    privateKey,
    alg,
    credential: String(credential),
  };
}

type Held = Awaited<ReturnType<typeof holder>>;

const nameOf = (disclosure: string) => JSON.parse(Buffer.from(disclosure, 'base64url').toString())[1];

const present = async ({ app }: Service, body: object) =>
  (await app.inject({ method: 'POST', url: '/v1/credentials/present', body })).json();

/** The credential with some of its claims, signed by its holder. */
async function bound({ clock }: Service, held: Held, members: object = {}, kept = held.disclosures) {
  const presented = `${[held.issuerJwt, ...kept].join('~')}~`;
  const claims = {
    nonce: NONCE,
    aud: AUDIENCE,
    iat: Math.floor(clock().getTime() / 1000),
    sd_hash: createHash('sha256').update(presented).digest('base64url'),
    ...members,
  };
  const token = await new SignJWT(claims)
    .setProtectedHeader({ alg: held.alg, typ: 'kb+jwt' })
    .sign(held.privateKey);
  return `${presented}${token}`;
}

test('RFC 9901: the disclosure and the digest of a known vector', () => {
  const disclosure = disclosureOf('AAECAwQFBgcICQoLDA0ODw', 'principalId', 'user_42');

  expect(disclosure).toBe('WyJBQUVDQXdRRkJnY0lDUW9MREEwT0R3IiwicHJpbmNpcGFsSWQiLCJ1c2VyXzQyIl0');
  expect(digestOf(disclosure)).toBe('bDerFTs_Hrnv6VpABbfmdJKdmIgSYCaXPliwWDipQng');
});

describe('an SD-JWT', () => {
  test('shows only the claims that its holder discloses, with or without a key binding', async () => {
    const { acme, service } = await start();
    const held = await holder(acme);
    const [scopes] = held.disclosures.filter((each) => nameOf(each) === 'scopes');
    const payload = decodeJwt(held.issuerJwt);

    const alone = await present(service, { sdJwt: `${held.issuerJwt}~` });
    const some = await present(service, { sdJwt: `${held.issuerJwt}~${scopes}~` });
    const all = await present(service, {
      ...{ sdJwt: await bound(service, held), nonce: NONCE, audience: AUDIENCE },
    });

    const visible = {
      ...{ id: payload.sub, type: 'AgentGrantCredential', sandbox: true, grantId: held.grantId },
    };
    expect(alone).toEqual({ valid: true, vcId: held.id, disclosedClaims: visible, keyBound: false });
    expect(some.disclosedClaims).toEqual({ ...visible, scopes: expect.any(Array) });
    expect(all).toEqual({
      ...{ valid: true, vcId: held.id, keyBound: true },
      disclosedClaims: {
        ...{ ...visible, scopes: some.disclosedClaims.scopes },
        ...{ principalId: 'user_42', developerId: acme.developerId, delegationDepth: 0 },
      },
    });
    for (const hidden of ['principalId', 'developerId', 'scopes', 'delegationDepth'])
      expect(payload).not.toHaveProperty(hidden);
    expect(payload._sd).toEqual([...Object(payload)._sd].sort());
    const page = (await acme('GET', '/v1/events?types=sd-jwt.presented')).json();
    expect(JSON.stringify(page)).toContain(held.id);
  });

  test('keeps back exactly the fields that were asked', async () => {
    const { acme, service } = await start();
    const held = await holder(acme, { selectiveFields: ['grantId', 'grantId'] });
    const shown = await present(service, { sdJwt: `${held.issuerJwt}~` });

    expect(held.disclosures.map(nameOf)).toEqual(['grantId']);
    const payload = decodeJwt(held.issuerJwt);
    expect(payload).toMatchObject({ principalId: 'user_42', delegationDepth: 0 });
    expect(payload).not.toHaveProperty('grantId');
    expect(shown.disclosedClaims).toEqual({
      ...{ id: payload.sub, type: 'AgentGrantCredential', sandbox: true, principalId: 'user_42' },
      ...{ developerId: acme.developerId, scopes: payload.scopes, delegationDepth: 0 },
    });
    expect(payload.scopes).toEqual(expect.any(Array));
  });

  test('has the members of the format when nothing is kept back, whatever the number of decoys', async () => {
    const { acme, service } = await start();
    const { grantId } = await grantTo(acme);
    for (let times = 0; times < 12; times += 1) {
      const body = { grantId, format: 'sd-jwt', selectiveFields: [] };
      const { credential } = (await acme('POST', '/v1/credentials', body)).json();
      const payload = decodeJwt(String(credential).slice(0, -1));
      expect(payload).toMatchObject({ _sd_alg: 'sha-256', _sd: expect.any(Array), grantId });
      expect(await present(service, { sdJwt: credential })).toMatchObject({ valid: true });
    }
  });

  test('hides the number of its claims behind digests of nothing', async () => {
    const { acme, service } = await start();
    const { grantId } = await grantTo(acme);
    const numbers = new Set<number>();
    const seen: string[] = [];
    for (let times = 0; times < 40; times += 1) {
      const { credential } = (await acme('POST', '/v1/credentials', { grantId, format: 'sd-jwt' })).json();
      const [issuerJwt = '', ...disclosures] = String(credential).slice(0, -1).split('~');
      const digests: string[] = Object(decodeJwt(issuerJwt))._sd;
      const own = disclosures.map(digestOf);
      const decoys = digests.filter((digest) => !own.includes(digest));
      expect(digests.length - decoys.length).toBe(4);
      for (const digest of digests) expect(digest).toMatch(/^[\w-]{43}$/);
      numbers.add(decoys.length);
      seen.push(...decoys);
      if (times === 0) expect(await present(service, { sdJwt: credential })).toMatchObject({ valid: true });
    }
    expect([...numbers].sort()).toEqual([0, 1, 2, 3]);
    expect(new Set(seen).size).toBe(seen.length);
  });

  test('is bound to its holder with a key of each kind that a holder may have', async () => {
    const { acme, service } = await start();
    for (const alg of ['RS256', 'EdDSA'] as const) {
      const held = await holder(acme, {}, alg);
      const sdJwt = await bound(service, held);
      expect(await present(service, { sdJwt, nonce: NONCE, audience: AUDIENCE })).toMatchObject({
        ...{ valid: true, keyBound: true },
      });
      expect(await present(service, { sdJwt, nonce: 'other', audience: AUDIENCE })).toMatchObject({
        code: 'key_binding_invalid',
      });
    }
  });

  test('ends with its grant', async () => {
    const { acme, service } = await start();
    const held = await holder(acme);
    expect(await present(service, { sdJwt: held.credential })).toMatchObject({ valid: true });
    await acme('DELETE', `/v1/grants/${held.grantId}`);
    expect(await present(service, { sdJwt: held.credential })).toMatchObject({
      valid: false,
      code: 'revoked',
    });
  });
});

describe('P4: a presentation is refused', () => {
  const made = disclosureOf('AAECAwQFBgcICQoLDA0ODw', 'principalId', 'user_1');
  const disclosures: [string, (held: Held) => readonly string[]][] = [
    ['with a claim that the issuer did not sign', () => [made]],
    ['with a claim twice', ({ disclosures: [first = ''] }) => [first, first]],
    ['with a claim and a bit more', ({ disclosures: [first = ''] }) => [`${first}AA`]],
    ['with no claim between its tildes', () => ['']],
  ];
  test.each(disclosures)('%s', async (_, kept) => {
    const { acme, service } = await start();
    const held = await holder(acme);
    const sdJwt = `${[held.issuerJwt, ...kept(held)].join('~')}~`;
    expect(await present(service, { sdJwt })).toMatchObject({ valid: false, code: 'disclosure_invalid' });
    expect(await present(service, { sdJwt: held.credential })).toMatchObject({ valid: true });
  });

  const claims: [string, (payload: object) => object, string][] = [
    ['that discloses a name of the format', (payload) => withDisclosed(payload, '_sd'), 'disclosure_invalid'],
    ['that discloses a prototype', (payload) => withDisclosed(payload, '__proto__'), 'disclosure_invalid'],
    ['that discloses what is there', (payload) => withDisclosed(payload, 'sub'), 'disclosure_invalid'],
    ['of another hash', (payload) => ({ ...payload, _sd_alg: 'sha-512' }), 'disclosure_invalid'],
    ['without a status', (payload) => ({ ...payload, status: {} }), 'status_unavailable'],
    ['of another issuer', (payload) => ({ ...payload, iss: 'https://evil.test' }), 'issuer_unknown'],
  ];
  test.each(claims)('%s', async (_, change, code) => {
    const { acme, service } = await start();
    const held = await holder(acme);
    const signed = async (payload: object) => signedBy(service, payload, { typ: 'dc+sd-jwt' });
    const payload = decodeJwt(held.issuerJwt);
    const forged = await signed(change(payload));
    const named = forged && Object(decodeJwt(forged)).disclosed;
    const sdJwt = `${[forged, ...(named ? [named] : [])].join('~')}~`;

    expect(await present(service, { sdJwt })).toMatchObject({ valid: false, code });
    expect(await present(service, { sdJwt: `${await signed(payload)}~` })).toMatchObject({ valid: true });
  });

  test('before its time', async () => {
    const { acme, service } = await start();
    const held = await holder(acme);
    const payload = decodeJwt(held.issuerJwt);
    const seconds = Math.floor(service.clock().getTime() / 1000);
    const presented = async (members: object) => {
      const signed = await signedBy(service, { ...payload, ...members }, { typ: 'dc+sd-jwt' });
      return present(service, { sdJwt: `${signed}~` });
    };

    for (const early of [{ iat: seconds + 61 }, { nbf: seconds + 61 }])
      expect(await presented(early)).toMatchObject({ valid: false, code: 'not_yet_valid' });
    for (const near of [{ iat: seconds + 60 }, { nbf: seconds + 60 }])
      expect(await presented(near)).toMatchObject({ valid: true });
  });

  const demands: [string, { nonce?: string; audience?: string }, object][] = [
    ['a nonce', { nonce: NONCE }, { nonce: 'other' }],
    ['an audience', { audience: AUDIENCE }, { aud: 'https://evil.test' }],
  ];
  test.each(demands)('without %s where that alone was asked, or with another', async (_, asked, other) => {
    const { acme, service } = await start();
    const held = await holder(acme);
    const ask = (sdJwt: string) => present(service, { sdJwt, ...asked });

    expect(await ask(held.credential)).toMatchObject({ valid: false, code: 'key_binding_required' });
    expect(await ask(await bound(service, held, other))).toMatchObject({
      ...{ valid: false, code: 'key_binding_invalid' },
    });
    // The binding is good, and says too little to keep the presentation from another verifier or another time.
    expect(await ask(await bound(service, held))).toMatchObject({ valid: true, keyBound: false });
  });

  const bindings: [string, object, object, string][] = [
    ['for another nonce', { nonce: 'other' }, {}, 'key_binding_invalid'],
    ['for another audience', { aud: 'https://evil.test' }, {}, 'key_binding_invalid'],
    ['over other claims', { sd_hash: 'x' }, {}, 'key_binding_invalid'],
    ['that is too old', { iat: 1 }, {}, 'key_binding_invalid'],
  ];
  test.each(bindings)('with a key binding %s', async (_, members, body, code) => {
    const { acme, service } = await start();
    const held = await holder(acme);
    const asked = { nonce: NONCE, audience: AUDIENCE, ...body };
    expect(await present(service, { sdJwt: await bound(service, held, members), ...asked })).toMatchObject({
      ...{ valid: false, code },
    });
    expect(await present(service, { sdJwt: await bound(service, held), ...asked })).toMatchObject({
      keyBound: true,
    });
  });

  test.each([
    [-301, { valid: false, code: 'key_binding_invalid' }],
    [-300, { keyBound: true }],
    [300, { keyBound: true }],
    [301, { valid: false, code: 'key_binding_invalid' }],
  ])('with a key binding more than 300 seconds from now, such as %i', async (seconds, answer) => {
    const { acme, service } = await start();
    const held = await holder(acme);
    const iat = Math.floor(service.clock().getTime() / 1000) + seconds;
    const sdJwt = await bound(service, held, { iat });

    expect(await present(service, { sdJwt, nonce: NONCE, audience: AUDIENCE })).toMatchObject(answer);
  });

  test('without the key binding that was asked, or with that of another holder', async () => {
    const { acme, service } = await start();
    const [held, other] = [await holder(acme), await holder(acme)];
    const stolen = await bound(service, { ...held, privateKey: other.privateKey });
    const asked = { nonce: NONCE, audience: AUDIENCE };

    expect(await present(service, { sdJwt: held.credential, ...asked })).toMatchObject({
      ...{ valid: false, code: 'key_binding_required' },
    });
    expect(await present(service, { sdJwt: stolen, ...asked })).toMatchObject({
      code: 'key_binding_invalid',
    });
    expect(await present(service, { sdJwt: stolen })).toMatchObject({ code: 'key_binding_invalid' });
    expect(await present(service, { sdJwt: await bound(service, held) })).toMatchObject({
      ...{ valid: true, keyBound: false },
    });
    expect(await present(service, { sdJwt: 'x' })).toMatchObject({ code: 'malformed' });
    expect(await present(service, { sdJwt: held.credential.slice(0, -1) })).toMatchObject({
      code: 'malformed',
    });
    expect(await present(service, { sdJwt: held.credential })).toMatchObject({ valid: true });
  });
});

/** A payload with the digest of a claim, whose disclosure is beside it. */
function withDisclosed(payload: object, name: string) {
  const disclosed = disclosureOf('AAECAwQFBgcICQoLDA0ODw', name, 'x');
  return { ...payload, _sd: [digestOf(disclosed)], disclosed };
}

test('low 2: is answered whenever it is presented, and heard of at most so often a minute', async () => {
  const service = await startApp({
    env: { RATE_LIMIT_PRESENTATION_EVENT: '3' },
  });
  const acme = await service.asDeveloper({ mode: 'sandbox' });
  const [held, beside] = [await holder(acme), await holder(acme)];
  const heard = async () =>
    (
      await service.db
        .selectFrom('outboxEvents')
        .select('id')
        .where('developerId', '=', acme.developerId)
        .where('type', '=', 'sd-jwt.presented')
        .execute()
    ).length;

  for (let time = 0; time < 8; time += 1)
    expect((await present(service, { sdJwt: `${held.issuerJwt}~` })).valid).toBe(true);
  const ofOne = await heard();
  await present(service, { sdJwt: `${beside.issuerJwt}~` });
  const ofBoth = await heard();
  service.advance(60);
  await present(service, { sdJwt: `${held.issuerJwt}~` });

  expect([ofOne, ofBoth, await heard()]).toEqual([3, 4, 5]);
});
