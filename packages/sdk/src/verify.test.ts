import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { DEVELOPER, startIssuer } from '../test/issuer.ts';
import { createVerifier, verifyGrantToken, verifyGrantTokenDetailed } from './verify.ts';

const optionsFor = ({ jwksUri }: { readonly jwksUri: string }) => ({ jwksUri, developerId: DEVELOPER });

test('a good token is read, with and without the claim names from before 0.6', async () => {
  const issuer = await startIssuer();
  const verify = (token: string) => verifyGrantToken(token, optionsFor(issuer));
  const legacy = { agt: 'did:web:auth.example.test:agents:ag_1', grnt: 'grnt_1', act: undefined };

  const grant = await verify(await issuer.token());

  expect(grant).toMatchObject({
    ...{ grantId: 'grnt_1', principalId: 'user_42', developerId: DEVELOPER, scopes: ['calendar:read'] },
    ...{ clientId: 'ag_1', agentId: 'ag_1', issuer: issuer.url, delegationDepth: 0, sandbox: false },
    ...{ actorChain: ['did:web:auth.example.test:agents:ag_1'] },
  });
  const old = await verify(
    await issuer.token({ ...legacy, 'urn:service:grant': undefined, client_id: undefined }),
  );
  expect(old).toMatchObject({ grantId: 'grnt_1', agentDid: legacy.agt, actorChain: [legacy.agt] });
  const entry = { type: 'urn:service:tools:v1', connector: 'crm', purpose: 'aml.screening' };
  expect(await verify(await issuer.token({ authorization_details: [entry] }))).toMatchObject({
    purpose: 'aml.screening',
    authorizationDetails: [entry],
  });
});

test('a bad token is refused with its reason', async () => {
  const issuer = await startIssuer();
  const audience = 'https://api.example.test';
  const options = { ...optionsFor(issuer), audience, requiredScopes: ['calendar:read'], maxAge: 300 };
  const now = Math.floor(Date.now() / 1_000);
  const stranger = await issuer.newKey('service-es256-first', 'ES256');
  const cases = {
    malformed: 'no token',
    expired: await issuer.token({ exp: now - 6 }),
    bad_signature: await issuer.token({}, stranger),
    issuer_mismatch: await issuer.token({ iss: 'https://evil.example' }),
    audience_mismatch: await issuer.token({ aud: 'https://other.example' }),
    developer_mismatch: await issuer.token({ dev: 'dev_2', 'urn:service:grant': undefined }),
    sandbox_not_allowed: await issuer.token({ sandbox: true }),
    claims_missing: await issuer.token({ jti: undefined }),
    missing_scopes: await issuer.token({ scp: ['calendar:write'] }),
  };

  for (const [reason, token] of Object.entries(cases))
    expect(await verifyGrantTokenDetailed(token, options)).toMatchObject({ ok: false, reason });

  expect(await verifyGrantTokenDetailed(await issuer.token(), options)).toMatchObject({ ok: true });
  const old = await issuer.token({ iat: now - 301 });
  expect(await verifyGrantTokenDetailed(old, options)).toMatchObject({ ok: false, reason: 'expired' });
  await expect(verifyGrantToken(cases.missing_scopes, options)).rejects.toMatchObject({
    name: 'BehestTokenError',
    missing: ['calendar:read'],
  });
});

test('settings that are written out again share one verifier, and other settings share none', async () => {
  const issuer = await startIssuer();
  const token = await issuer.token();
  const checks = vi.spyOn(crypto.subtle, 'verify');
  onTestFinished(() => checks.mockRestore());
  const outcome = async (more: object = {}) => {
    const result = await verifyGrantTokenDetailed(token, { ...optionsFor(issuer), ...more });
    return result.ok ? 'ok' : result.reason;
  };

  expect([await outcome(), await outcome(), await outcome({ audience: undefined })]).toEqual([
    'ok',
    'ok',
    'ok',
  ]);
  expect(checks).toHaveBeenCalledTimes(1);
  expect(await outcome({ developerId: 'dev_2' })).toBe('developer_mismatch');
  expect(await outcome({ audience: 'https://other.example' })).toBe('audience_mismatch');
  expect(await outcome({ requiredScopes: ['calendar:write'] })).toBe('missing_scopes');
  expect(await outcome({ maxAge: Number.NaN })).toBe('expired');
  expect(await outcome({ revocation: { check: () => 'revoked' } })).toBe('revoked');
  expect(await outcome({ revocation: { check: () => 'active' } })).toBe('ok');
  expect(await outcome()).toBe('ok');
  expect(issuer.fetches).toBe(1);
});

test('settings that a program changes after a call hold from then on, and for no other', async () => {
  const issuer = await startIssuer();
  const token = await issuer.token();
  const developers = [DEVELOPER];
  const options = { ...optionsFor(issuer), developerId: developers };
  const outcome = async (given: typeof options) => (await verifyGrantTokenDetailed(token, given)).ok;

  expect(await outcome(options)).toBe(true);
  developers[0] = 'dev_2';

  expect(await outcome(options)).toBe(false);
  expect(await outcome({ ...options, developerId: [DEVELOPER] })).toBe(true);
});

test('a verifier without its developer, or with a wrong address, is not made', () => {
  const jwksUri = 'https://auth.example.com/.well-known/jwks.json';
  // As in JavaScript, where nothing demands the member.
  const nobody = { jwksUri } as { jwksUri: string; developerId: string };

  expect(() => createVerifier(nobody)).toThrow('developerId is required');
  expect(() => createVerifier({ jwksUri, developerId: [] })).toThrow('1 to 100');
  for (const address of ['http://auth.example.com/jwks', 'file:///etc/passwd', 'nowhere'])
    expect(() => createVerifier({ jwksUri: address, developerId: DEVELOPER })).toThrow('https://');
  expect(() => createVerifier({ jwksUri, developerId: DEVELOPER, clockTolerance: 61 })).toThrow('0 to 60');
});

test('an outage of the issuer is no forgery', async () => {
  const issuer = await startIssuer();
  const token = await issuer.token();
  issuer.answers('error');

  const failing = verifyGrantToken(token, optionsFor(issuer));

  await expect(failing).rejects.toMatchObject({ name: 'BehestNetworkError', code: 'NETWORK' });
});

test('a scope whose connector has argument rules in the token is not enough', async () => {
  const issuer = await startIssuer();
  const scp = ['tool:pay:write', 'tool:crm:read'];
  const entry = { type: 'urn:service:tools:v1', connector: 'pay', tools: ['transfer'] };
  const rules = { transfer: { '/amount': { max: '500' } } };
  const ask = async (details: unknown[], ...requiredScopes: string[]) =>
    verifyGrantTokenDetailed(await issuer.token({ scp, authorization_details: details }), {
      ...optionsFor(issuer),
      requiredScopes,
    });

  expect(await ask([entry], 'tool:pay:write')).toMatchObject({ ok: true });
  expect(await ask([{ ...entry, arguments: rules }], 'tool:pay:write')).toMatchObject({
    missing: ['tool:pay:write'],
  });
  expect(await ask([{ ...entry, arguments: rules }], 'tool:crm:read')).toMatchObject({ ok: true });
});

describe('verified tokens', () => {
  test('are remembered until they expire, and every other text is checked', async () => {
    const issuer = await startIssuer();
    let now = Date.now();
    const verifier = createVerifier(optionsFor(issuer), () => now);
    const verify = vi.spyOn(crypto.subtle, 'verify');
    const token = await issuer.token();

    await verifier.verify(token);
    await verifier.verify(token);
    expect(verify).toHaveBeenCalledTimes(1);

    const [head, payload, signature = ''] = token.split('.');
    const flipped = signature.replace(/^./, (first) => (first === 'A' ? 'B' : 'A'));
    expect(await verifier.detailed([head, payload, flipped].join('.'))).toEqual({
      ok: false,
      reason: 'bad_signature',
    });
    expect(verify).toHaveBeenCalledTimes(2);

    now += 600_000 - 2_000 + 5_000;
    expect(await verifier.detailed(token)).toMatchObject({ ok: true });
    now += 3_000;
    expect(await verifier.detailed(token)).toEqual({ ok: false, reason: 'expired' });
    verify.mockRestore();
  });
});
