import * as oauth from 'oauth4webapi';
import * as openid from 'openid-client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { partsOf } from '../../../../test/app/flow.ts';
import { startListening } from '../../../../test/app/listening.ts';
import {
  askWith,
  basic,
  discover,
  errorIn,
  follow,
  formOf,
  newClient,
  post,
  toPresent,
} from '../../../../test/app/oauth.ts';
import { newProver } from '../../../../test/app/prover.ts';
import { startApp } from '../../../../test/app/start-app.ts';

let service: Awaited<ReturnType<typeof startListening>>;

beforeAll(async () => {
  service = await startListening({ isShared: true, startsAt: new Date().toISOString() });
});
afterAll(() => service.stop());

/** A public client with a code that is not exchanged yet. */
async function withCode(settings = {}) {
  const acme = await service.asDeveloper({ mode: 'sandbox' });
  const { clientId } = await newClient(acme, { authMethod: 'none', ...settings });
  const config = await discover(service.url, clientId);
  const { link, checks } = await askWith(config);
  const back = await follow(link);
  const form = formOf(config, back, checks);
  return { acme, clientId, config, back, checks, form };
}

const prover = () => newProver(service, service.url);
const tokenUrl = () => `${service.url}/oauth/token`;

test('two independent clients get bound tokens, whose refresh token is bound too', async () => {
  const { config, back, checks, clientId, acme } = await withCode();
  toPresent(service);
  const keys = await openid.randomDPoPKeyPair();
  const DPoP = openid.getDPoPHandle(config, keys);

  const tokens = await openid.authorizationCodeGrant(config, back, checks, undefined, { DPoP });

  const { payload } = partsOf(tokens.access_token);
  expect(tokens.token_type).toBe('dpop');
  expect(payload.cnf.jkt).toMatch(/^[\w-]{43}$/);
  const verdict = await acme('POST', '/v1/tokens/verify', { token: tokens.access_token });
  expect(verdict.json()).toMatchObject({ valid: true, cnf: payload.cnf });
  const { refresh_token: refreshToken = '' } = tokens;
  const stolen = { grant_type: 'refresh_token', refresh_token: refreshToken, client_id: clientId };
  expect(await (await post(tokenUrl(), stolen)).json()).toMatchObject({ error: 'invalid_grant' });
  const other = openid.getDPoPHandle(config, await openid.randomDPoPKeyPair());
  await expect(openid.refreshTokenGrant(config, refreshToken, {}, { DPoP: other })).rejects.toThrow();

  const as = config.serverMetadata();
  const client: oauth.Client = { client_id: clientId };
  const handle = oauth.DPoP(client, keys);
  const answer = await oauth.refreshTokenGrantRequest(as, client, oauth.None(), refreshToken, {
    DPoP: handle,
    [oauth.allowInsecureRequests]: true,
  });
  const refreshed = await oauth.processRefreshTokenResponse(as, client, answer);
  expect(partsOf(refreshed.access_token).payload.cnf).toEqual(payload.cnf);
});

test('RFC 9449 §5: a refresh token is bound for a client that proves nothing else, and for no other', async () => {
  const acme = await service.asDeveloper({ mode: 'sandbox' });
  const root = await withCode();
  const { access_token: subject } = Object(await (await post(tokenUrl(), root.form)).json());
  const { proof } = await prover();
  /** Gets bound tokens, and refreshes them without a proof. */
  async function refreshed(form: Record<string, string>, headers: Record<string, string> = {}) {
    const answer = await post(tokenUrl(), form, { ...headers, dpop: await proof() });
    const { token_type, refresh_token } = Object(await answer.json());
    const { client_id = '' } = form;
    const refresh = { grant_type: 'refresh_token', refresh_token: String(refresh_token), client_id };
    const next = Object(await (await post(tokenUrl(), refresh, headers)).json());
    return [token_type, next.error ?? next.token_type];
  }
  async function byCode(settings: { readonly authMethod: string }) {
    const { clientId, clientSecret } = await newClient(acme, settings);
    const config = await discover(service.url, clientId);
    const { link, checks } = await askWith(config);
    const headers = clientSecret === undefined ? {} : basic(clientId, clientSecret);
    return { headers, form: formOf(config, await follow(link), checks) };
  }
  const [open, closed] = [
    await byCode({ authMethod: 'none' }),
    await byCode({ authMethod: 'client_secret_basic' }),
  ];
  const delegation = {
    ...{ grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange', subject_token: subject },
    subject_token_type: 'urn:ietf:params:oauth:token-type:access_token',
  };
  const other = await newClient(root.acme);

  expect(await refreshed(open.form, open.headers)).toEqual(['DPoP', 'invalid_grant']);
  expect(await refreshed(closed.form, closed.headers)).toEqual(['DPoP', 'Bearer']);
  const form = { ...delegation, client_id: other.clientId };
  const proved = basic(other.clientId, other.clientSecret);
  expect(await refreshed(form, proved)).toEqual(['DPoP', 'Bearer']);
});

test('O26 a proof that does not fit is refused, and the code stays usable', async () => {
  const { form } = await withCode();
  const { proof, privateJwk } = await prover();
  const now = Math.floor(service.clock().getTime() / 1000);
  const wrong = {
    'another method': await proof({ htm: 'GET' }),
    'another address': await proof({ htu: `${service.url}/oauth/revoke` }),
    'another host': await proof({ htu: 'https://evil.test/oauth/token' }),
    'a minute early': await proof({ iat: now - 61 }),
    'a minute late': await proof({ iat: now + 61 }),
    'no id': await proof({ jti: undefined }),
    'another type': await proof({}, { typ: 'JWT' }),
    'a private key': await proof({}, { jwk: privateJwk }),
    'two proofs': `${await proof()}, ${await proof()}`,
    'no proof': 'x.y.z',
    'another signature': `${(await proof()).slice(0, -8)}AAAAAAAA`,
  };

  for (const [name, dpop] of Object.entries(wrong)) {
    const answer = await post(tokenUrl(), form, { dpop });
    expect([name, answer.status, await errorIn(answer)]).toEqual([name, 400, 'invalid_dpop_proof']);
  }
  const query = await proof({ htu: `${service.url}/oauth/token?a=b#c` });
  expect((await post(tokenUrl(), form, { dpop: query })).status).toBe(200);
});

test('O26 a proof is good once, also at another process', async () => {
  const { form } = await withCode();
  const { proof } = await prover();
  const other = await startApp({
    env: { PUBLIC_BASE_URL: service.url },
    startsAt: service.clock().toISOString(),
  });
  const dpop = await proof();

  expect((await post(tokenUrl(), form, { dpop })).status).toBe(200);
  const replay = { method: 'POST', url: '/oauth/token', headers: { dpop } } as const;
  const type = { 'content-type': 'application/x-www-form-urlencoded' };
  const payload = new URLSearchParams((await withCode()).form).toString();
  const replayed = await other.app.inject({ ...replay, headers: { ...replay.headers, ...type }, payload });
  expect(replayed.json()).toMatchObject({ error: 'invalid_dpop_proof' });
  const fresh = { dpop: await proof(), ...type };
  expect((await other.app.inject({ ...replay, headers: fresh, payload })).statusCode).toBe(200);
});

test('a proof that is used ten times at once is good once', async () => {
  const { form } = await withCode();
  const { proof } = await prover();
  const dpop = await proof();
  const forms = await Promise.all(Array.from({ length: 9 }, async () => (await withCode()).form));

  const answers = await Promise.all([form, ...forms].map((each) => post(tokenUrl(), each, { dpop })));

  expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(9).fill(400)]);
});

test('a code that was asked for with a key is exchanged only with its proof', async () => {
  const { config } = await withCode();
  const { proof } = await prover();
  toPresent(service);
  const keys = await openid.randomDPoPKeyPair();
  const DPoP = openid.getDPoPHandle(config, keys);
  const { link, checks } = await askWith(config, { dpop_jkt: await DPoP.calculateThumbprint() });
  const back = await follow(link);
  const form = formOf(config, back, checks);

  expect(await (await post(tokenUrl(), form)).json()).toMatchObject({ error: 'invalid_grant' });
  const dpop = await proof();
  expect(await (await post(tokenUrl(), form, { dpop })).json()).toMatchObject({ error: 'invalid_grant' });
  const tokens = await openid.authorizationCodeGrant(config, back, checks, undefined, { DPoP });
  expect(tokens.token_type).toBe('dpop');
});

test('a client that has to prove a key gets nothing without a proof', async () => {
  const { form } = await withCode({ dpopBound: true });
  const { proof } = await prover();

  expect(await (await post(tokenUrl(), form)).json()).toMatchObject({ error: 'invalid_dpop_proof' });
  expect((await post(tokenUrl(), form, { dpop: await proof() })).status).toBe(200);
});

test('a service that wants nonces gives one, and takes it for one minute more', async () => {
  const strict = await startListening({ env: { DPOP_NONCE: 'true' }, startsAt: new Date().toISOString() });
  const acme = await strict.asDeveloper({ mode: 'sandbox' });
  const { clientId } = await newClient(acme, { authMethod: 'none' });
  const config = await discover(strict.url, clientId);
  const DPoP = openid.getDPoPHandle(config, await openid.randomDPoPKeyPair());
  const ask = async () => {
    toPresent(strict);
    const { link, checks } = await askWith(config);
    return openid.authorizationCodeGrant(config, await follow(link), checks, undefined, { DPoP });
  };

  expect((await ask()).token_type).toBe('dpop'); // the client repeats the request with the nonce of the refusal
  const { proof } = await prover();
  const form = { grant_type: 'refresh_token', refresh_token: 'ref_x', client_id: clientId };
  const htu = `${strict.url}/oauth/token`;
  const withNonce = async (nonce?: string) => {
    const iat = Math.floor(strict.clock().getTime() / 1000);
    const answer = await post(htu, form, { dpop: await proof({ htu, iat, ...(nonce && { nonce }) }) });
    return { error: await errorIn(answer), nonce: answer.headers.get('dpop-nonce') ?? '' };
  };
  const { error, nonce } = await withNonce();
  expect(error).toBe('use_dpop_nonce');
  strict.advance(60);
  expect((await withNonce(nonce)).error).toBe('invalid_grant');
  strict.advance(60);
  expect((await withNonce(nonce)).error).toBe('use_dpop_nonce');
  expect((await withNonce('x')).error).toBe('use_dpop_nonce');
});
