import { createHash } from 'node:crypto';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { expect, test } from 'vitest';
import { startAccountsServer } from '../../../../test/app/accounts-server.ts';
import { refusalOf } from '../../../../test/app/flow.ts';
import { FORGED_ACCESS_TOKEN, startForger } from '../../../../test/app/forging-provider.ts';
import { addOidc, besideProvider, bringBack, startLogin } from '../../../../test/app/signing-on.ts';
import { startApp } from '../../../../test/app/start-app.ts';

const hash = createHash('sha256').update(FORGED_ACCESS_TOKEN).digest();
const AT_HASH = hash.subarray(0, 16).toString('base64url');

test('M7: an ID token with a wrong claim, algorithm or key signs nobody in', async () => {
  const { connection, now, signIn } = await startForger();
  const { clientId } = connection;
  const controls: object[] = [
    {},
    { azp: clientId, aud: [clientId, 'other'] },
    { at_hash: AT_HASH },
    { exp: now() - 59 },
    { iat: now() + 59 },
  ];
  for (const claims of controls) expect((await signIn(claims)).statusCode).toBe(200);

  const wrong: Readonly<Record<string, object>> = {
    'another nonce': { nonce: 'other' },
    'no nonce': { nonce: undefined },
    'another issuer': { iss: 'https://mallory.test' },
    'another audience': { aud: 'other' },
    'several audiences without azp': { aud: [clientId, 'other'] },
    'another azp': { azp: 'other' },
    'an at_hash of another token': { at_hash: 'x' },
    expired: { exp: now() - 61 },
    'made too long ago': { iat: now() - 661 },
    'made in the future': { iat: now() + 61 },
    'no subject': { sub: undefined },
  };
  for (const [name, claims] of Object.entries(wrong)) {
    expect(`${name}: ${refusalOf(await signIn(claims))}`).toBe(`${name}: 401 SSO_AUTH_FAILED`);
  }
  for (const header of [{ alg: 'none' }, { alg: 'HS256' }, { by: 'stranger' as const }]) {
    expect(refusalOf(await signIn({}, header))).toBe('401 SSO_AUTH_FAILED');
  }
});

test('M7: metadata of another issuer begin no login, and no endpoint is guessed', async () => {
  const { provider, service, org } = await startForger();
  provider.behaviour.instead = ({ url }, respond) => {
    if (!url?.startsWith('/.well-known')) return false;
    respond(200, { issuer: 'https://mallory.test' });
    return true;
  };
  expect(refusalOf(await startLogin(service, { org }))).toBe('502 SSO_ERROR issuer_mismatch');
});

test('M8: a code of another login, and an answer that names another issuer, are refused', async () => {
  const provider = await startAccountsServer();
  const service = await startApp(besideProvider());
  const acme = await service.asDeveloper();
  await addOidc(acme, provider);
  const begin = async () => {
    const { authorizeUrl } = (await startLogin(service, { org: acme.developerId })).json();
    return provider.visit(authorizeUrl);
  };
  const [own, foreign, mixed, silent] = [await begin(), await begin(), await begin(), await begin()];
  own.searchParams.set('code', String(foreign.searchParams.get('code')));
  mixed.searchParams.set('iss', 'https://mallory.test');
  silent.searchParams.delete('iss');

  const answers = [];
  for (const back of [own, mixed, silent]) answers.push(refusalOf(await bringBack(service, back)));

  expect(answers).toEqual(['401 SSO_AUTH_FAILED', '401 SSO_AUTH_FAILED', '401 SSO_AUTH_FAILED']);
  expect((await bringBack(service, await begin())).statusCode).toBe(200); // the control
});

test('keys and metadata are kept for an hour, and keys are read again for an unknown one at most once a minute', async () => {
  const provider = await startAccountsServer();
  const service = await startApp(besideProvider());
  const acme = await service.asDeveloper();
  await addOidc(acme, provider);
  const [before, after] = [await generateKeyPair('RS256'), await generateKeyPair('RS256')];
  let current = { kid: 'before', ...before };
  let idToken = '';
  const asked = { metadata: 0, keys: 0 };
  provider.behaviour.instead = ({ url }, respond) => {
    if (url?.startsWith('/.well-known/')) asked.metadata += 1;
    if (url === '/token') respond(200, { access_token: 'a', token_type: 'Bearer', id_token: idToken });
    if (url !== '/jwks') return url === '/token';
    asked.keys += 1;
    void exportJWK(current.publicKey).then((jwk) =>
      respond(200, { keys: [{ ...jwk, kid: current.kid, alg: 'RS256' }] }),
    );
    return true;
  };
  const signIn = async (signer: { kid: string; privateKey: typeof before.privateKey }) => {
    const { authorizeUrl } = (await startLogin(service, { org: acme.developerId })).json();
    const url = new URL(authorizeUrl);
    idToken = await new SignJWT({ nonce: String(url.searchParams.get('nonce')), sub: 'ada' })
      .setProtectedHeader({ alg: 'RS256', kid: signer.kid })
      .setIssuer(provider.issuer)
      .setAudience(String(url.searchParams.get('client_id')))
      .setIssuedAt(service.clock())
      .setExpirationTime(new Date(service.clock().getTime() + 300_000))
      .sign(signer.privateKey);
    const back = new URL(`${provider.issuer}/back`);
    back.searchParams.set('state', String(url.searchParams.get('state')));
    back.searchParams.set('iss', provider.issuer);
    back.searchParams.set('code', 'any');
    return (await bringBack(service, back)).statusCode;
  };
  const old = current;

  expect([await signIn(old), await signIn(old)]).toEqual([200, 200]);
  expect(asked).toEqual({ metadata: 1, keys: 1 });
  current = { kid: 'after', ...after };
  expect(await signIn(current)).toBe(401); // within the minute
  expect(asked.keys).toBe(1);
  service.advance(60);
  expect(await signIn(current)).toBe(200);
  expect(await signIn({ ...current, kid: 'made up' })).toBe(401);
  expect(await signIn(old)).toBe(401);
  expect(asked).toEqual({ metadata: 1, keys: 2 });
  service.advance(3600);
  expect(await signIn(current)).toBe(200);
  expect(asked).toEqual({ metadata: 2, keys: 3 });
});
