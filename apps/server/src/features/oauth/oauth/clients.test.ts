import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import * as openid from 'openid-client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { entriesOf, partsOf } from '../../../../test/app/flow.ts';
import { startListening } from '../../../../test/app/listening.ts';
import {
  askWith,
  basic,
  discover,
  errorIn,
  follow,
  newClient,
  post,
  REDIRECT,
  victimOn,
  visit,
} from '../../../../test/app/oauth.ts';
import { startApp } from '../../../../test/app/start-app.ts';

const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

let service: Awaited<ReturnType<typeof startListening>>;

beforeAll(async () => {
  service = await startListening({ isShared: true });
});
afterAll(() => service.stop());

const victim = (parameters?: Record<string, string>) => victimOn(service, parameters);
const sandbox = () => service.asDeveloper({ mode: 'sandbox' });
const at = (path: string) => `${service.url}/oauth/${path}`;

describe('RFC 9126: a pushed request', () => {
  async function pushing() {
    const acme = await sandbox();
    const { clientId, clientSecret } = await newClient(acme);
    const config = await discover(service.url, clientId, openid.ClientSecretBasic(clientSecret));
    const { link, checks } = await askWith(config);
    const pushed = await openid.buildAuthorizationUrlWithPAR(config, link.searchParams);
    return { acme, config, checks, pushed };
  }

  test('is followed once, by its client, in its time', async () => {
    const { pushed, config, checks, acme } = await pushing();
    const other = await newClient(acme);

    expect((await visit(pushed, { client_id: other.clientId })).status).toBe(400);
    const back = await follow(pushed);
    expect((await openid.authorizationCodeGrant(config, back, checks)).scope).toBe('calendar:read');
    expect((await visit(pushed)).status).toBe(400);
    expect((await visit(pushed, { request_uri: 'https://evil.test/request' })).status).toBe(400);
  });

  test('is kept for ninety seconds', async () => {
    const [first, second] = [await pushing(), await pushing()];

    service.advance(89);
    expect((await follow(first.pushed)).searchParams.get('code')).not.toBeNull();
    service.advance(1);
    expect((await visit(second.pushed)).status).toBe(400);
  });

  test.each([
    ['scope', '*'],
    ['redirect_uri', 'https://evil.test'],
    ['principal_id', 'root'],
  ])('is not changed by the browser that follows it: %s', async (name, value) => {
    const { pushed } = await pushing();
    const changed = new URL(pushed);
    changed.searchParams.set(name, value);

    const back = await follow(changed);

    expect(`${back.origin}${back.pathname}`).toBe(REDIRECT);
    expect([back.searchParams.get('error'), back.searchParams.get('code')]).toEqual([
      'invalid_request',
      null,
    ]);
  });

  test('names its principal only for a client that proves itself', async () => {
    const { config, link } = await victim();
    const named = Object.fromEntries(link.searchParams);
    const refused = await post(at('par'), { ...named, principal_id: 'user_42' });
    expect(await errorIn(refused)).toBe('unauthorized_client');
    expect((await post(at('par'), named)).status).toBe(201);
    const { link: direct, checks } = await askWith(config, { principal_id: 'user_42' });
    const tokens = await openid.authorizationCodeGrant(config, await follow(direct), checks);
    expect(partsOf(tokens.access_token).payload.sub).toBe('sandbox-user');
  });

  test('may be demanded of every client', async () => {
    const strict = await startListening({ env: { OAUTH_REQUIRE_PAR: 'true' } });
    const acme = await strict.asDeveloper({ mode: 'sandbox' });
    const { clientId, clientSecret } = await newClient(acme);
    const config = await discover(strict.url, clientId, openid.ClientSecretBasic(clientSecret));
    const { link } = await askWith(config);

    expect(config.serverMetadata().require_pushed_authorization_requests).toBe(true);
    expect((await follow(link)).searchParams.get('error')).toBe('invalid_request');
    const pushed = await openid.buildAuthorizationUrlWithPAR(config, link.searchParams);
    expect((await follow(pushed)).searchParams.get('code')).not.toBeNull();
  });
});

describe('RFC 9700 §2.5: a client that does not prove itself', () => {
  const refresh = { grant_type: 'refresh_token', refresh_token: 'ref_x' };
  const basic = (id: string, secret: string) => ({
    authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`,
  });

  test('is refused, and one that does is heard', async () => {
    const acme = await sandbox();
    const { clientId, clientSecret = '' } = await newClient(acme);
    const other = await newClient(acme);
    const wrong: Record<string, [Record<string, string>, Record<string, string>?]> = {
      'no proof': [{ client_id: clientId }],
      'another secret': [{}, basic(clientId, other.clientSecret ?? '')],
      'an empty secret': [{}, basic(clientId, '')],
      'the secret in the form': [{ client_id: clientId, client_secret: clientSecret }],
      'an unknown client': [{}, basic('ag_01K9Z3QW5M8T2V4X6Y7Z8A9B0C', clientSecret)],
      'no client': [{}],
    };

    for (const [name, [form, headers = {}]] of Object.entries(wrong)) {
      const answer = await post(at('token'), { ...refresh, ...form }, headers);
      expect([name, answer.status, await errorIn(answer)]).toEqual([name, 401, 'invalid_client']);
      if (headers.authorization) expect(answer.headers.get('www-authenticate')).toMatch(/^Basic/);
    }
    const twice = { ...refresh, client_id: clientId, client_secret: clientSecret };
    expect(await errorIn(await post(at('token'), twice, basic(clientId, clientSecret)))).toBe(
      'invalid_request',
    );
    const header = basic(clientId, clientSecret);
    const assertion = { client_assertion_type: ASSERTION_TYPE, client_assertion: 'x.y.z' };
    for (const more of [assertion, { client_id: other.clientId }]) {
      expect(await errorIn(await post(at('token'), { ...refresh, ...more }, header))).toBe('invalid_request');
    }
    const good = await post(at('token'), { ...refresh, client_id: clientId }, header);
    expect([good.status, await errorIn(good)]).toEqual([400, 'invalid_grant']);
  });

  test('is refused when its assertion is old, used, for another server or of another key', async () => {
    const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true });
    const stranger = await generateKeyPair('ES256');
    const { kty, crv, x, y } = await exportJWK(publicKey);
    const acme = await sandbox();
    const { clientId } = await newClient(acme, {
      authMethod: 'private_key_jwt',
      publicKeyJwk: { kty, crv, x, y },
    });
    const now = () => Math.floor(service.clock().getTime() / 1000);
    const assertion = (changes: Record<string, unknown> = {}, key = privateKey) =>
      new SignJWT({
        iss: clientId,
        sub: clientId,
        aud: service.url,
        jti: crypto.randomUUID(),
        exp: now() + 60,
        ...changes,
      })
        .setProtectedHeader({ alg: 'ES256' })
        .sign(key);
    const send = (text: string) =>
      post(at('token'), {
        ...refresh,
        client_assertion_type: ASSERTION_TYPE,
        client_assertion: text,
      });
    const used = await assertion();

    expect(await errorIn(await send(used))).toBe('invalid_grant');
    for (const text of [
      used,
      await assertion({}, stranger.privateKey),
      await assertion({ aud: 'https://evil.test' }),
      await assertion({ aud: [service.url, 'https://evil.test'] }),
      await assertion({ exp: now() - 1 }),
      await assertion({ exp: now() + 301 }),
      await assertion({ exp: undefined }),
      await assertion({ jti: undefined }),
      await assertion({ iss: 'ag_x' }),
      await assertion({ sub: undefined }),
      await assertion({ sub: 'ag_x' }),
      await assertion({ nbf: now() + 61 }),
      await assertion({ iat: now() + 61 }),
      await assertion({ aud: at('revoke') }),
      'x.y.z',
    ]) {
      const answer = await send(text);
      expect([answer.status, await errorIn(answer)]).toEqual([401, 'invalid_client']);
    }
    for (const good of [
      ...[0, 10, 60].flatMap((ahead) => [{ nbf: now() + ahead }, { iat: now() + ahead }]),
      { exp: now() + 1 },
      { aud: at('token') },
      { aud: at('par') },
      { aud: at('bc-authorize') },
    ]) {
      expect([good, await errorIn(await send(await assertion(good)))]).toEqual([good, 'invalid_grant']);
    }
  });

  test('is refused once its agent is suspended, or is no longer a client', async () => {
    const { acme, clientId, config, form } = await victim();
    const { refresh_token: refreshToken = '' } = (await (await post(at('token'), form)).json()) as Record<
      string,
      string
    >;

    await acme('PATCH', `/v1/agents/${clientId}`, { status: 'suspended' });
    await expect(openid.refreshTokenGrant(config, refreshToken)).rejects.toThrow();
    await acme('PATCH', `/v1/agents/${clientId}`, { status: 'active' });
    const next = await openid.refreshTokenGrant(config, refreshToken);
    await acme('DELETE', `/v1/agents/${clientId}/oauth`);
    await expect(openid.refreshTokenGrant(config, next.refresh_token ?? '')).rejects.toMatchObject({
      status: 401,
    });
  });
});

describe('a form', () => {
  test('has each parameter once, and is a form', async () => {
    const { form } = await victim();
    const twice = new URLSearchParams(form);
    twice.append('code', 'another');
    const send = (body: string, type: string) =>
      fetch(at('token'), { method: 'POST', body, headers: { 'content-type': type } });

    expect(await errorIn(await send(twice.toString(), 'application/x-www-form-urlencoded'))).toBe(
      'invalid_request',
    );
    expect(await errorIn(await send(JSON.stringify(form), 'application/json'))).toBe('invalid_request');
    const unsupported = await post(at('token'), { ...form, grant_type: 'password' });
    expect(await errorIn(unsupported)).toBe('unsupported_grant_type');
    const good = await post(at('token'), form);
    expect([good.status, good.headers.get('cache-control')]).toEqual([200, 'no-store']);
  });

  test('may come from a page of any origin, which sends no credentials of its own', async () => {
    const headers = { origin: 'https://spa.test', 'access-control-request-method': 'POST' };
    const listOf = (answer: Response, name: string) =>
      (answer.headers.get(`access-control-${name}`) ?? '').toLowerCase().split(/, */);

    for (const path of ['token', 'par', 'register', 'revoke', 'device_authorization']) {
      const preflight = await fetch(at(path), { method: 'OPTIONS', headers });
      const answer = await fetch(at(path), { method: 'POST', headers });
      for (const each of [preflight, answer]) {
        expect([path, each.headers.get('access-control-allow-origin')]).toEqual([path, '*']);
        expect(each.headers.get('access-control-allow-credentials')).toBeNull();
      }
      const sent = ['authorization', 'content-type', 'dpop', 'idempotency-key'];
      expect(listOf(preflight, 'allow-headers')).toEqual(expect.arrayContaining(sent));
      const read = ['dpop-nonce', 'www-authenticate', 'x-request-id', 'retry-after'];
      expect(listOf(answer, 'expose-headers')).toEqual(expect.arrayContaining(read));
    }
    for (const path of ['introspect', 'authorize', 'bc-authorize']) {
      const other = await fetch(at(path), { method: 'OPTIONS', headers });
      expect([path, other.headers.get('access-control-allow-origin')]).toEqual([path, null]);
    }
  });
});

test("another client's token is not revoked, and nobody learns whether it was there", async () => {
  const { form, acme, clientId } = await victim();
  const tokens = (await (await post(at('token'), form)).json()) as Record<string, string>;
  const other = await newClient(acme, { authMethod: 'none' });
  const isValid = async () =>
    (await acme('POST', '/v1/tokens/verify', { token: tokens.access_token })).json().valid;

  for (const token of [tokens.access_token ?? '', tokens.refresh_token ?? '', 'garbage']) {
    const answer = await post(at('revoke'), { token, client_id: other.clientId });
    expect([answer.status, await answer.text()]).toEqual([200, '']);
  }
  expect(await isValid()).toBe(true);
  expect((await post(at('revoke'), { token: tokens.refresh_token ?? '', client_id: clientId })).status).toBe(
    200,
  );
  expect(await isValid()).toBe(false);
  const ended = await entriesOf(acme, 'grant.revoked');
  expect(ended.map(({ metadata }) => metadata.reason)).toEqual(['client']);
});

test('a client asks as often as its rate allows, and a stranger does not use it up', async () => {
  const limited = await startApp({ env: { RATE_LIMIT_OAUTH_TOKEN: '2' } });
  const acme = await limited.asDeveloper({ mode: 'sandbox' });
  const { clientId, clientSecret = '' } = await newClient(acme);
  const send = (secret: string) =>
    limited.app.inject({
      method: 'POST',
      url: '/oauth/token',
      headers: {
        authorization: `Basic ${Buffer.from(`${clientId}:${secret}`).toString('base64')}`,
        'content-type': 'application/x-www-form-urlencoded',
      },
      payload: 'grant_type=refresh_token&refresh_token=ref_x',
    });

  expect([(await send('x')).statusCode, (await send('x')).statusCode, (await send('x')).statusCode]).toEqual([
    401, 401, 429,
  ]);
  expect([(await send(clientSecret)).statusCode, (await send(clientSecret)).statusCode]).toEqual([400, 400]);
  const refused = await send(clientSecret);
  expect([refused.statusCode, refused.json().error]).toEqual([429, 'temporarily_unavailable']);
  expect(refused.json().error_description).toMatch(/^Rate limit exceeded, retry in \d+ seconds$/);
  expect(refused.headers['retry-after']).toMatch(/^\d+$/);
});

describe('agents K11: a refusal of a client', () => {
  const SECRETS = ['client_secret_basic', 'client_secret_post'] as const;

  /** What a request by one method is told, where the client is registered with another. */
  async function toldBy(registered: string, used: string, secretSent?: string) {
    const acme = await service.asDeveloper({ mode: 'sandbox' });
    const { clientId, clientSecret } = await newClient(acme, { authMethod: registered });
    const secret = secretSent ?? clientSecret ?? 'x';
    const inBody = { client_id: clientId, client_secret: secret };
    const sent = used === 'client_secret_post' ? inBody : used === 'none' ? { client_id: clientId } : {};
    const headers = used === 'client_secret_basic' ? basic(clientId, secret) : {};
    const form: Record<string, string> = { grant_type: 'refresh_token', refresh_token: 'x', ...sent };
    const answer = await post(at('token'), form, headers);
    const { error, error_description: said } = Object(await answer.json());
    return { status: answer.status, error, said };
  }

  test.each(SECRETS)(
    'agents 46: that is registered with %s names both methods to the client itself',
    async (method) => {
      const [other = 'none'] = SECRETS.filter((each) => each !== method);

      expect(await toldBy(method, other)).toEqual({
        ...{ status: 401, error: 'invalid_client' },
        said: `The client is registered with the method \`${method}\`, and the request used \`${other}\`.`,
      });
    },
  );

  test.each(SECRETS)('that has no secret and sends one by %s names both methods', async (used) => {
    const { status, said } = await toldBy('none', used);

    expect([status, said]).toEqual([
      ...[401, `The client is registered with the method \`none\`, and the request used \`${used}\`.`],
    ]);
  });

  test('names to a stranger the method that they used, and nothing of the client', async () => {
    const unknown = await post(at('token'), {
      ...{ grant_type: 'refresh_token', refresh_token: 'x', client_id: 'ag_nobody', client_secret: 'wrong' },
    });
    const { error_description: said } = Object(await unknown.json());

    expect(said).toContain('The request used the method `client_secret_post`');
    for (const registered of SECRETS) {
      const told = await toldBy(registered, 'client_secret_post', 'wrong');
      expect(told).toEqual({ status: unknown.status, error: 'invalid_client', said });
    }
    const unproved = await toldBy('client_secret_basic', 'none');
    expect(unproved.said).toBe(said.replace('client_secret_post', 'none'));
  });
});
