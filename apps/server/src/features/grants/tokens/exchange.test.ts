import { generateKeyPairSync, webcrypto } from 'node:crypto';
import { keySetOf, type VerificationJwk } from '@behest/protocol/key-set';
import { createAsyncTokenVerifier, type SignatureToCheck } from '@behest/protocol/token-verifier';
import { createLocalJWKSet, type JSONWebKeySet, jwtVerify } from 'jose';
import { describe, expect, test } from 'vitest';
import {
  actionsOf,
  authorize,
  entriesOf,
  grantTo,
  partsOf,
  pkce,
  refusalOf,
  registerAgent,
  sharedSandbox,
  startSandbox,
} from '../../../../test/app/flow.ts';
import { type Developer, type Service, startApp } from '../../../../test/app/start-app.ts';
import { newCode } from '../authorization/in-flight.ts';

const joinSandbox = sharedSandbox();

/** An approved request, as the program of an agent has it. */
async function approved(developer: Developer, request: object = {}) {
  const { agentId, did } = await registerAgent(developer);
  const { code, authRequestId } = await authorize(developer, agentId, request);
  const exchange = (change: object = {}) => developer('POST', '/v1/token', { code, agentId, ...change });
  return { agentId, did, code: String(code), authRequestId: String(authRequestId), exchange };
}

/** A code for a request of any status. The service gave this code to nobody. */
async function codeFor({ store }: Service, developer: Developer, requestId: string): Promise<string> {
  const { code, entry } = newCode({ developerId: developer.developerId, requestId }, 600);
  await store.put([entry]);
  return code;
}

async function grantsOf(developer: Developer, query = '') {
  return (await developer('GET', `/v1/grants?limit=500${query}`)).json().grants;
}

describe('exchanging a code', () => {
  test('answers with a grant, a token and a refresh token, and says when each ends', async () => {
    const { acme } = await joinSandbox();
    const scopes = ['tool:bank:read', 'calendar:read'];
    const { agentId, exchange } = await approved(acme, {
      scopes,
      expiresIn: '7d',
      tokenExpiresIn: '1h',
      audience: 'https://api.example',
      purpose: 'aml.screening',
    });

    const answer = await exchange();

    expect(answer.statusCode).toBe(201);
    expect(answer.headers['cache-control']).toBe('no-store');
    expect(answer.json()).toEqual({
      grantToken: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
      tokenType: 'Bearer',
      expiresAt: '2026-01-01T01:00:00.000Z',
      refreshToken: expect.stringMatching(/^ref_[0-9A-Z]{26}[\w-]{43}$/),
      refreshExpiresAt: '2026-01-08T00:00:00.000Z',
      grantId: expect.stringMatching(/^grnt_[0-9A-Z]{26}$/),
      grantExpiresAt: '2026-01-08T00:00:00.000Z',
      agentId,
      principalId: 'user_42',
      scopes,
      audience: 'https://api.example',
      purpose: 'aml.screening',
      authorizationDetails: [{ type: 'urn:service:tools:v1', connector: 'bank', purpose: 'aml.screening' }],
      sandbox: true,
    });
  });

  test('ends the refresh token after thirty days where the grant lives longer', async () => {
    const { acme } = await joinSandbox();
    const { exchange } = await approved(acme, { expiresIn: '60d' });

    expect((await exchange()).json()).toMatchObject({
      grantExpiresAt: '2026-03-02T00:00:00.000Z',
      refreshExpiresAt: '2026-01-31T00:00:00.000Z',
      expiresAt: '2026-01-02T00:00:00.000Z',
    });
  });

  test('records the grant and its token in the audit log, in this order', async () => {
    const { acme } = await joinSandbox();
    const { agentId, exchange } = await approved(acme);

    const { grantId, grantToken, expiresAt } = (await exchange()).json();

    expect((await actionsOf(acme)).slice(-2)).toEqual(['grant.created', 'token.issued']);
    const [created] = await entriesOf(acme, 'grant.created');
    expect(created).toMatchObject({ grantId, agentId, principalId: 'user_42', status: 'success' });
    expect(created?.metadata).toMatchObject({
      consentMethod: 'sandbox',
      scopes: ['calendar:read', 'email:send'],
    });
    const [issued] = await entriesOf(acme, 'token.issued');
    const tokenId = partsOf(grantToken).payload.jti;
    expect(issued).toMatchObject({ grantId, metadata: { tokenId, expiresAt, refreshed: false } });
  });

  test.each([
    ['no code', { code: undefined }, 'code required'],
    ['no agent', { agentId: undefined }, 'agentId required'],
    ['a code over 512 characters', { code: 'x'.repeat(513) }, 'code too_long'],
    ['a verifier of 42 characters', { codeVerifier: 'a'.repeat(42) }, 'codeVerifier format'],
    ['a verifier of 129 characters', { codeVerifier: 'a'.repeat(129) }, 'codeVerifier format'],
    ['a verifier outside the alphabet', { codeVerifier: `${'a'.repeat(43)}+` }, 'codeVerifier format'],
    ['an unknown credential format', { credentialFormat: 'ldp_vc' }, 'credentialFormat not_allowed'],
    ['O8 scopes', { scopes: ['*'] }, 'scopes unknown'],
  ])('refuses %s, and the code stays valid', async (_, change, problem) => {
    const { acme } = await joinSandbox();
    const { exchange } = await approved(acme);

    const refused = await exchange(change);

    expect(refused.statusCode).toBe(400);
    const { fields } = refused.json().details;
    expect(
      fields.map((field: { path: string; problem: string }) => `${field.path} ${field.problem}`),
    ).toEqual([problem]);
    expect((await exchange()).statusCode).toBe(201);
  });

  test('needs an API key', async () => {
    const { app, acme } = await joinSandbox();
    const { code, agentId } = await approved(acme);

    const answer = await app.inject({ method: 'POST', url: '/v1/token', body: { code, agentId } });

    expect(refusalOf(answer)).toBe('401 UNAUTHORIZED');
  });

  test('makes no grant beyond the plan, and the code works once there is room', async () => {
    const { acme } = await startSandbox({ env: { PLAN_FREE_ACTIVE_GRANTS: '1' } });
    const [first, second] = [await approved(acme), await approved(acme)];
    const { grantId } = (await first.exchange()).json();

    const refused = await second.exchange();
    await acme('DELETE', `/v1/grants/${grantId}`);
    const admitted = await second.exchange();

    expect(refusalOf(refused)).toBe('402 PLAN_LIMIT_EXCEEDED');
    expect(refused.json().details).toEqual({ limit: 1, plan: 'free', resource: 'active_grants', current: 1 });
    expect(admitted.statusCode).toBe(201);
  });

  test('counts the room of an expired grant once, even when that grant is revoked later', async () => {
    const { acme, advance } = await startSandbox({ env: { PLAN_FREE_ACTIVE_GRANTS: '2' } });
    const old = [await grantTo(acme, { expiresIn: '1m' }), await grantTo(acme, { expiresIn: '1m' })];
    advance(61);
    await grantTo(acme);
    for (const { grantId } of old) await acme('DELETE', `/v1/grants/${grantId}`);
    const [second, third] = [await approved(acme), await approved(acme)];

    expect((await second.exchange()).statusCode).toBe(201);
    expect(refusalOf(await third.exchange())).toBe('402 PLAN_LIMIT_EXCEEDED');
    expect(await grantsOf(acme, '&status=active')).toHaveLength(2);
  });

  test('answers 503 while Redis is away, and refuses a code as unknown once the store has lost it', async () => {
    const { acme, store } = await startSandbox({ store: 'memory' });
    const { exchange, code } = await approved(acme);
    const away = await startApp({ env: { REDIS_URL: 'redis://127.0.0.1:1' } });
    const there = away.calling(acme.apiKey);
    const { agentId } = await registerAgent(acme);

    const meanwhile = await there('POST', '/v1/token', { code, agentId });
    await store.close(); // which is how a store in memory forgets
    const afterwards = await exchange();

    expect(refusalOf(meanwhile)).toBe('503 SERVICE_UNAVAILABLE');
    expect(meanwhile.json().details).toEqual({ dependency: 'redis' });
    expect(refusalOf(afterwards)).toBe('400 INVALID_GRANT code_unknown');
  });
});

describe('a code in the wrong hands', () => {
  test('O3 gets the same answer as an unknown code, and stays valid for its owner', async () => {
    const { acme, asDeveloper } = await joinSandbox();
    const stranger = await asDeveloper({ mode: 'sandbox' });
    const { agentId: strangersAgent } = await registerAgent(stranger);
    const { agentId: otherAgent } = await registerAgent(acme);
    const redirectUri = 'https://app.example/back';
    const { code, agentId, exchange } = await approved(acme, { redirectUri });

    const unknown = await exchange({ code: 'x'.repeat(43) });
    const refusals = [
      await exchange({ agentId: otherAgent }),
      await exchange({ agentId: 'ag_nobody' }),
      await exchange({ redirectUri: 'https://app.example/other' }),
      await stranger('POST', '/v1/token', { code, agentId }),
      await stranger('POST', '/v1/token', { code, agentId: strangersAgent }),
    ];

    expect(refusalOf(unknown)).toBe('400 INVALID_GRANT code_unknown');
    const { requestId: _, ...body } = unknown.json();
    for (const refused of refusals) {
      expect(refused.statusCode).toBe(400);
      expect(refused.json()).toEqual({ ...body, requestId: refused.json().requestId });
    }
    expect((await exchange({ redirectUri })).statusCode).toBe(201);
  });

  test('O3 with a redirect URI is refused where the request had none', async () => {
    const { acme } = await joinSandbox();
    const { exchange } = await approved(acme);

    expect(refusalOf(await exchange({ redirectUri: 'https://app.example/back' }))).toBe(
      '400 INVALID_GRANT code_unknown',
    );
    expect((await exchange()).statusCode).toBe(201);
  });
});

describe('proof of the code’s key (RFC 7636)', () => {
  test('O4 demands the verifier of the challenge, and the right one works after a wrong one', async () => {
    const { acme } = await joinSandbox();
    const { codeVerifier, asked } = pkce();
    const { exchange } = await approved(acme, asked);

    expect(refusalOf(await exchange())).toBe('400 INVALID_GRANT pkce_required');
    expect(refusalOf(await exchange({ codeVerifier: pkce().codeVerifier }))).toBe(
      '400 INVALID_GRANT pkce_mismatch',
    );
    // The method `plain` would accept this verifier (RFC 7636 §4.6).
    expect(refusalOf(await exchange({ codeVerifier: asked.codeChallenge }))).toBe(
      '400 INVALID_GRANT pkce_mismatch',
    );
    expect((await exchange({ codeVerifier })).statusCode).toBe(201);
  });

  test('O4 refuses a verifier where no challenge was sent', async () => {
    const { acme } = await joinSandbox();
    const { exchange } = await approved(acme);

    expect(refusalOf(await exchange({ codeVerifier: pkce().codeVerifier }))).toBe(
      '400 INVALID_GRANT pkce_unexpected',
    );
    expect((await exchange()).statusCode).toBe(201);
  });

  test.each([
    [4, 201, '201'],
    [5, 410, '400 INVALID_GRANT code_unknown'],
  ])(
    'O4 after %i wrong verifiers answers another code with %i and the right verifier with %s',
    async (wrong, another, outcome) => {
      const { acme } = await joinSandbox();
      const { codeVerifier, asked } = pkce();
      const { exchange, authRequestId } = await approved(acme, asked);

      for (let each = 0; each < wrong; each += 1) await exchange({ codeVerifier: pkce().codeVerifier });

      expect((await acme('POST', `/v1/authorize/${authRequestId}/code`)).statusCode).toBe(another);
      expect(refusalOf(await exchange({ codeVerifier }))).toBe(outcome);
    },
  );

  test('O4 counts each of several wrong verifiers that come at once', async () => {
    const { acme } = await joinSandbox();
    const { codeVerifier, asked } = pkce();
    const { exchange } = await approved(acme, asked);

    await Promise.all(Array.from({ length: 5 }, () => exchange({ codeVerifier: pkce().codeVerifier })));

    expect(refusalOf(await exchange({ codeVerifier }))).toBe('400 INVALID_GRANT code_unknown');
  });
});

describe('a code that is not valid now', () => {
  test('O5 is valid for 600 seconds after the approval and not a second longer', async () => {
    const { acme, advance } = await startSandbox();
    const [early, late] = [await approved(acme), await approved(acme)];

    advance(599);
    expect((await early.exchange()).statusCode).toBe(201);
    advance(2);
    expect(refusalOf(await late.exchange())).toBe('400 INVALID_GRANT code_expired');
  });

  test.each([
    ['pending', async () => {}],
    ['denied', (acme: Developer, id: string) => acme('POST', `/v1/authorize/${id}/deny`)],
    ['cancelled', (acme: Developer, id: string) => acme('DELETE', `/v1/authorize/${id}`)],
  ])('O5 leads nowhere while its request is %s', async (status, decide) => {
    const { acme, service } = await joinSandbox();
    const { agentId } = await registerAgent(acme);
    const { authRequestId } = await authorize(acme, agentId, { autoApprove: false });
    const code = await codeFor(service, acme, authRequestId);
    await decide(acme, authRequestId);
    expect((await acme('GET', `/v1/authorize/${authRequestId}`)).json().status).toBe(status);

    const refused = await acme('POST', '/v1/token', { code, agentId });

    expect(refusalOf(refused)).toBe('400 INVALID_GRANT not_approved');
    expect(await grantsOf(acme)).toEqual([]);
  });

  test('O16 waits for an agent that was suspended after the approval', async () => {
    const { acme } = await joinSandbox();
    const { agentId, exchange } = await approved(acme);

    await acme('PATCH', `/v1/agents/${agentId}`, { status: 'suspended' });
    const suspended = await exchange();
    await acme('PATCH', `/v1/agents/${agentId}`, { status: 'active' });

    expect(refusalOf(suspended)).toBe('400 INVALID_GRANT agent_inactive');
    expect((await exchange()).statusCode).toBe(201);
  });

  test('O16 ends with an agent that was revoked after the approval', async () => {
    const { acme } = await joinSandbox();
    const { agentId, exchange } = await approved(acme);

    await acme('DELETE', `/v1/agents/${agentId}`);

    expect(refusalOf(await exchange())).toBe('400 INVALID_GRANT not_approved');
  });
});

describe('a code used twice', () => {
  const detected = async (developer: Developer) =>
    (await entriesOf(developer, 'token.reuse_detected')).map(({ status, metadata }) => [
      status,
      metadata.revoked,
    ]);

  test('O2 is refused, and within the grace period nothing else happens', async () => {
    const { acme, advance } = await startSandbox();
    const { exchange } = await approved(acme);
    const { grantToken } = (await exchange()).json();

    advance(30);
    const again = await exchange();

    expect(refusalOf(again)).toBe('400 INVALID_GRANT code_used');
    expect((await acme('POST', '/v1/tokens/verify', { token: grantToken })).json().valid).toBe(true);
    expect(await detected(acme)).toEqual([['blocked', false]]);
  });

  test('O2 later also ends the grant that was made from it, with every token of that grant', async () => {
    const { acme, advance } = await startSandbox();
    const { agentId, exchange } = await approved(acme);
    const { grantToken, refreshToken, grantId } = (await exchange()).json();

    advance(31);
    const again = await exchange();

    expect(refusalOf(again)).toBe('400 INVALID_GRANT code_used');
    expect((await acme('POST', '/v1/tokens/verify', { token: grantToken })).json()).toEqual({
      valid: false,
      reason: 'revoked',
    });
    expect((await acme('GET', `/v1/grants/${grantId}`)).json()).toMatchObject({
      status: 'revoked',
      revokedReason: 'code_reuse',
    });
    const refreshed = await acme('POST', '/v1/token/refresh', { refreshToken, agentId });
    expect(refusalOf(refreshed)).toBe('400 INVALID_GRANT grant_revoked');
    expect((await actionsOf(acme)).slice(-2)).toEqual(['token.reuse_detected', 'grant.revoked']);
    expect(await detected(acme)).toEqual([['success', true]]);
    const [revoked] = await entriesOf(acme, 'grant.revoked');
    expect(revoked?.metadata).toMatchObject({ reason: 'code_reuse', revokedBy: 'system' });
  });

  test('O2 has the grace period that the operator sets', async () => {
    const { acme, advance } = await startSandbox({ env: { REUSE_GRACE_SECONDS: '0' } });
    const { exchange } = await approved(acme);
    const { grantId } = (await exchange()).json();

    advance(1);
    await exchange();

    expect((await acme('GET', `/v1/grants/${grantId}`)).json()).toMatchObject({ status: 'revoked' });
  });

  test('O2 ends nothing when the second use lacks the verifier', async () => {
    const { acme, advance } = await startSandbox();
    const { codeVerifier, asked } = pkce();
    const { exchange } = await approved(acme, asked);
    const { grantId } = (await exchange({ codeVerifier })).json();

    advance(31);
    const refused = await exchange({ codeVerifier: pkce().codeVerifier });

    expect(refusalOf(refused)).toBe('400 INVALID_GRANT pkce_mismatch');
    expect((await acme('GET', `/v1/grants/${grantId}`)).json()).toMatchObject({ status: 'active' });
  });
});

describe('the token', () => {
  const claimsOf = async (env: Readonly<Record<string, string>>) => {
    const { acme } = await startSandbox({ env });
    const { agentId, did, grantId, grantToken } = await grantTo(acme, {
      principalId: 'Zoë',
      audience: 'https://api.example',
      scopes: ['tool:bank:read', 'email:send'],
      authorizationDetails: [{ type: 'urn:service:tools:v1', connector: 'bank', tools: ['get_balance'] }],
    });
    return { ...partsOf(grantToken), agentId, did, grantId, developerId: acme.developerId, grantToken };
  };

  const standard = ({ agentId, did, grantId, developerId }: Awaited<ReturnType<typeof claimsOf>>) => ({
    iss: 'https://auth.test',
    sub: 'Zoë',
    aud: 'https://api.example',
    client_id: agentId,
    dev: developerId,
    scp: ['tool:bank:read', 'email:send'],
    scope: 'tool:bank:read email:send',
    jti: expect.stringMatching(/^tok_[0-9A-Z]{26}$/),
    iat: Date.parse('2026-01-01T00:00:00Z') / 1000,
    nbf: Date.parse('2025-12-31T23:59:30Z') / 1000,
    exp: Date.parse('2026-01-02T00:00:00Z') / 1000,
    act: { sub: did },
    authorization_details: [{ type: 'urn:service:tools:v1', connector: 'bank', tools: ['get_balance'] }],
    'urn:service:grant': { grant_id: grantId, agent_did: did, developer_id: developerId },
    sandbox: true,
  });

  test('has the claims of RFC 9068, and the older names beside them', async () => {
    const issued = await claimsOf({});

    expect(issued.payload).toEqual({ ...standard(issued), agt: issued.did, grnt: issued.grantId });
  });

  test('has no claim under an older name once the operator switches them off', async () => {
    const issued = await claimsOf({ GRANT_TOKEN_LEGACY_CLAIMS: 'false' });

    expect(issued.payload).toEqual(standard(issued));
  });

  test('has a header of three members, and is ASCII throughout', async () => {
    const { header, grantToken } = await claimsOf({});

    expect(header).toEqual({ alg: 'RS256', kid: expect.stringMatching(/^service-rs256-/), typ: 'at+jwt' });
    expect(Buffer.from(grantToken.split('.')[1] ?? '', 'base64url').toString('latin1')).toMatch(/^[ -~]*$/);
  });

  test('leaves out claims that were not requested', async () => {
    const { acme } = await joinSandbox();
    const { grantToken } = await grantTo(acme);

    const { payload } = partsOf(grantToken);
    expect(payload).not.toHaveProperty('aud');
    expect(payload).not.toHaveProperty('authorization_details');
  });

  const pem = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({
    type: 'pkcs8',
    format: 'pem',
  });
  test.each([
    ['RS256', {}],
    ['ES256', { JWT_SIGNING_ALG: 'ES256', EC_PRIVATE_KEY: String(pem) }],
  ])(
    'signed with %s verifies in an independent library and in our own, with the published keys',
    async (alg, env) => {
      const { acme, app, clock } = await startSandbox({ env });
      const { grantToken } = await grantTo(acme);

      const jwks: JSONWebKeySet = (await app.inject('/.well-known/jwks.json')).json();
      const byJose = await jwtVerify(grantToken, createLocalJWKSet(jwks), {
        issuer: 'https://auth.test',
        typ: 'at+jwt',
        algorithms: [alg],
        currentDate: clock(),
      });
      const own = createAsyncTokenVerifier({
        keys: () => keySetOf(jwks),
        issuer: 'https://auth.test',
        developerId: acme.developerId,
        allowSandbox: true,
        verifySignature,
      });
      const byOurOwn = await own.verify(grantToken, { now: clock() });

      expect(byJose.protectedHeader.alg).toBe(alg);
      expect(byOurOwn).toMatchObject({ ok: true, payload: byJose.payload });
      expect((await acme('POST', '/v1/tokens/verify', { token: grantToken })).json().valid).toBe(true);
      const [signed] = grantToken.split(/\.(?=[^.]*$)/);
      const forged = `${signed}.${Buffer.alloc(alg === 'RS256' ? 256 : 64, 1).toString('base64url')}`;
      expect(await own.verify(forged, { now: clock() })).toEqual({ ok: false, reason: 'bad_signature' });
    },
  );
});

async function verifySignature({ alg, key, signed, signature }: SignatureToCheck<VerificationJwk>) {
  const algorithm =
    alg === 'RS256'
      ? { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' }
      : { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
  const imported = await webcrypto.subtle.importKey('jwk', Object(key), algorithm, false, ['verify']);
  return webcrypto.subtle.verify(algorithm, imported, signature, signed);
}
