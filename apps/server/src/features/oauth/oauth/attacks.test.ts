import * as openid from 'openid-client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { partsOf } from '../../../../test/app/flow.ts';
import { startListening } from '../../../../test/app/listening.ts';
import {
  askWith,
  discover,
  errorIn,
  follow,
  formOf,
  newClient,
  newResource,
  post,
  victimOn,
  visit,
} from '../../../../test/app/oauth.ts';

let service: Awaited<ReturnType<typeof startListening>>;

beforeAll(async () => {
  service = await startListening({ isShared: true });
});
afterAll(() => service.stop());

const victim = (parameters?: Record<string, string>) => victimOn(service, parameters);
const sandbox = () => service.asDeveloper({ mode: 'sandbox' });
const at = (path: string) => `${service.url}/oauth/${path}`;

const locationOf = (answer: Response) => new URL(answer.headers.get('location') ?? 'about:blank');

describe('RFC 9700 §4.1, O1: an address that is not exactly one of the client', () => {
  test.each([
    'https://client.test/cb/',
    'https://client.test/CB',
    'https://client.test/cb?next=1',
    'https://client.test/other',
    'https://evil.test/cb',
    'https://client.test.evil.test/cb',
    'https://client.test:8443/cb',
    'https://client.test@evil.test/cb',
    'https://client.test/cb#x',
    'https://client.test/../cb',
    'https://client.test/%2e%2e/cb',
    'http://client.test/cb',
    'javascript:alert(1)',
    'data:text/html,x',
    'http://localhost:3001/cb',
  ])('is refused with a page, and nothing is redirected: %s', async (redirectUri) => {
    const { link } = await victim();

    const answer = await visit(link, { redirect_uri: redirectUri });

    expect([answer.status, answer.headers.get('location')]).toEqual([400, null]);
    expect(answer.headers.get('content-type')).toContain('text/html');
  });

  test('is refused also when it is missing, or the client is unknown; the client itself is served', async () => {
    const { link } = await victim();

    expect((await visit(link, { redirect_uri: null })).status).toBe(400);
    expect((await visit(link, { client_id: 'ag_01K9Z3QW5M8T2V4X6Y7Z8A9B0C' })).status).toBe(400);
    expect((await visit(link)).status).toBe(303);
  });

  test('is not freed from its port for an agent, even on loopback', async () => {
    const acme = await sandbox();
    const redirectUris = ['http://127.0.0.1:3000/cb', 'http://localhost/cb'];
    const { clientId } = await newClient(acme, { authMethod: 'none', redirectUris });
    const { link } = await askWith(await discover(service.url, clientId), {
      redirect_uri: redirectUris[0] ?? '',
    });

    for (const other of ['http://127.0.0.1:3001/cb', 'http://localhost:3000/cb', 'http://[::1]:3000/cb']) {
      expect((await visit(link, { redirect_uri: other })).status).toBe(400);
    }
    expect((await visit(link)).status).toBe(303);
  });
});

describe('RFC 9700 §4.4, O6: a mix-up of servers', () => {
  test('is noticed by the issuer in good answers and in errors, which is the one of the metadata', async () => {
    const { link, checks, config } = await victim();
    const good = locationOf(await visit(link));
    const bad = locationOf(await visit(link, { scope: null }));

    const metadata = config.serverMetadata();
    expect(metadata.issuer).toBe(service.url);
    expect(metadata.authorization_response_iss_parameter_supported).toBe(true);
    for (const back of [good, bad]) {
      expect(back.searchParams.get('iss')).toBe(service.url);
      expect(back.searchParams.get('state')).toBe(checks.expectedState);
    }
    good.searchParams.set('iss', 'https://evil.test');
    await expect(openid.authorizationCodeGrant(config, good, checks)).rejects.toThrow();
  });

  test('is not possible through the document of OpenID, which is not there', async () => {
    for (const path of ['openid-configuration', 'openid-configuration/x']) {
      expect((await fetch(`${service.url}/.well-known/${path}`)).status).toBe(404);
    }
    expect((await fetch(`${service.url}/.well-known/oauth-authorization-server`)).status).toBe(200);
  });
});

describe('RFC 9700 §4.5, O3, O4: an injected code', () => {
  test('is worth nothing to another client, at another address or without its verifier', async () => {
    const { form, acme } = await victim();
    const other = await newClient(acme, { authMethod: 'none' });
    const stranger = await victim();
    const wrong = {
      'another client': { client_id: other.clientId },
      'a client of another developer': { client_id: stranger.clientId },
      'another address': { redirect_uri: 'https://client.test/other' },
      'another verifier': { code_verifier: stranger.form.code_verifier },
      'a short verifier': { code_verifier: 'a'.repeat(42) },
    };

    for (const [name, changes] of Object.entries(wrong)) {
      const answer = await post(at('token'), { ...form, ...changes });
      expect([name, answer.status, await errorIn(answer)]).toEqual([name, 400, 'invalid_grant']);
    }
    const { code_verifier: _, ...without } = form;
    expect(await errorIn(await post(at('token'), without))).toBe('invalid_grant');
    const { redirect_uri: __, ...nowhere } = form;
    expect(await errorIn(await post(at('token'), nowhere))).toBe('invalid_request');
    expect((await post(at('token'), form)).status).toBe(200);
  });

  test('is void after five wrong verifiers', async () => {
    const { form } = await victim();
    const guess = { ...form, code_verifier: 'g'.repeat(43) };

    for (let tries = 0; tries < 5; tries += 1) await post(at('token'), guess);

    expect(await errorIn(await post(at('token'), form))).toBe('invalid_grant');
  });

  test('needs PKCE from the start: without a challenge, or with `plain`, the request is refused', async () => {
    const { link } = await victim();

    for (const changes of [
      { code_challenge: null },
      { code_challenge_method: null },
      { code_challenge_method: 'plain' },
      { code_challenge: 'a'.repeat(42) },
      { code_challenge: 'a'.repeat(44) },
      { response_type: 'token' },
      { response_mode: 'fragment' },
      { request: 'x.y.z' },
      { state: 's'.repeat(8193) },
    ]) {
      const back = locationOf(await visit(link, changes));
      expect(back.searchParams.get('code')).toBeNull();
      expect(back.searchParams.get('error')).toMatch(
        /^(invalid_request|unsupported_response_type|request_not_supported)$/,
      );
    }
    expect(locationOf(await visit(link)).searchParams.get('code')).not.toBeNull();
  });
});

test('O2: a code used again ends the grant, after the time in which a client may have lost an answer', async () => {
  const { form, acme } = await victim();
  const { access_token: token } = (await (await post(at('token'), form)).json()) as { access_token: string };

  expect(await errorIn(await post(at('token'), form))).toBe('invalid_grant');
  expect((await acme('POST', '/v1/tokens/verify', { token })).json().valid).toBe(true);
  service.advance(31);
  expect(await errorIn(await post(at('token'), form))).toBe('invalid_grant');
  expect((await acme('POST', '/v1/tokens/verify', { token })).json()).toEqual({
    valid: false,
    reason: 'revoked',
  });
});

test('O2: a code used ten times at once makes one grant', async () => {
  const { form, acme } = await victim();

  const answers = await Promise.all(Array.from({ length: 10 }, () => post(at('token'), form)));

  expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(9).fill(400)]);
  expect((await acme('GET', '/v1/grants')).json().grants).toHaveLength(1);
});

describe('RFC 9700 §4.14: a stolen refresh token', () => {
  test('is worth nothing to another client, and its second use ends the grant', async () => {
    const { form, config, acme, clientId } = await victim();
    const first = (await (await post(at('token'), form)).json()) as Record<string, string>;
    const other = await newClient(acme, { authMethod: 'none' });
    const stolen = { grant_type: 'refresh_token', refresh_token: first.refresh_token ?? '' };

    expect(await errorIn(await post(at('token'), { ...stolen, client_id: other.clientId }))).toBe(
      'invalid_grant',
    );
    const next = await openid.refreshTokenGrant(config, first.refresh_token ?? '');
    service.advance(31);
    expect(await errorIn(await post(at('token'), { ...stolen, client_id: clientId }))).toBe('invalid_grant');
    await expect(openid.refreshTokenGrant(config, next.refresh_token ?? '')).rejects.toThrow();
  });
});

describe('O8: more than was approved', () => {
  test('is not given at refresh; less is, for that token alone, and it verifies', async () => {
    const { form, config, acme } = await victim({ scope: 'calendar:read mail:read' });
    const { refresh_token: refreshToken = '' } = (await (await post(at('token'), form)).json()) as Record<
      string,
      string
    >;
    const refresh = (scope: string) =>
      post(at('token'), {
        grant_type: 'refresh_token',
        client_id: config.clientMetadata().client_id,
        refresh_token: refreshToken,
        scope,
      });

    for (const scope of ['calendar:write', 'Calendar:read', '*', 'calendar:*', 'calendar:read files:read']) {
      expect([scope, await errorIn(await refresh(scope))]).toEqual([scope, 'invalid_scope']);
    }
    const narrow = (await (await refresh('mail:read')).json()) as Record<string, string>;
    expect(narrow.scope).toBe('mail:read');
    const token = narrow.access_token;
    expect((await acme('POST', '/v1/tokens/verify', { token })).json()).toMatchObject({
      valid: true,
      scopes: ['mail:read'],
    });
    const demanded = { token, requiredScopes: ['calendar:read'] };
    expect((await acme('POST', '/v1/tokens/verify', demanded)).json()).toMatchObject({
      valid: false,
      reason: 'scope',
    });
    const whole = await openid.refreshTokenGrant(config, narrow.refresh_token ?? '');
    expect(whole.scope).toBe('calendar:read mail:read');
  });
});

describe('RFC 8707, RFC 9700 §4.10: a token for one resource', () => {
  test('is asked for, and used, by its exact name', async () => {
    const [one, two] = [`http://localhost/${crypto.randomUUID()}`, `http://localhost/${crypto.randomUUID()}`];
    const { acme, config, link } = await victim();
    const [first, second] = [await newResource(acme, one), await newResource(acme, two)];
    const back = (changes: Record<string, string>) => visit(link, changes).then(locationOf);

    for (const resource of [`${one}/`, `${one}#x`, one.toUpperCase(), 'https://api.test']) {
      expect((await back({ resource })).searchParams.get('error')).toBe('invalid_target');
    }
    const asked = await askWith(config, { resource: one });
    const both = new URL(asked.link);
    both.searchParams.append('resource', two);
    const form = formOf(config, await follow(both), asked.checks);
    expect(await errorIn(await post(at('token'), { ...form, resource: `${one}/` }))).toBe('invalid_target');
    const tokens = (await (await post(at('token'), { ...form, resource: one })).json()) as Record<
      string,
      string
    >;
    const { access_token: token = '' } = tokens;
    expect(partsOf(token).payload.aud).toBe(one);

    const ask = async (credential: string) =>
      (await post(at('introspect'), { token }, { authorization: `Bearer ${credential}` })).json();
    expect(await ask(first.credential)).toMatchObject({ active: true, aud: one });
    expect(await ask(second.credential)).toEqual({ active: false });
    const foreign = await newResource(await sandbox(), `http://localhost/${crypto.randomUUID()}`);
    expect(await ask(foreign.credential)).toEqual({ active: false });
    const refreshed = await openid.refreshTokenGrant(config, tokens.refresh_token ?? '');
    expect(partsOf(refreshed.access_token).payload.aud).toEqual([one, two]);
    const verdict = await acme('POST', '/v1/tokens/verify', { token: refreshed.access_token, audience: two });
    expect(verdict.json().valid).toBe(true);
  });

  test('is not taken by the service itself, which takes one without a resource', async () => {
    const resource = `http://localhost/${crypto.randomUUID()}`;
    const { acme, config, form } = await victim();
    await newResource(acme, resource);
    const own = (await (await post(at('token'), form)).json()) as Record<string, string>;
    const { link, checks } = await askWith(config, { resource });
    const other = await openid.authorizationCodeGrant(config, await follow(link), checks);
    const exchange = (token: string) =>
      service.calling(token)('POST', '/v1/vault/credentials/exchange', { service: 'github' });

    expect((await exchange(other.access_token)).statusCode).toBe(401);
    expect(partsOf(own.access_token ?? '').payload.aud).toBe(service.url);
    expect((await exchange(own.access_token ?? '')).statusCode).not.toBe(401);
  });
});

describe('a NUL, which the database refuses', () => {
  const NUL = '\0';
  const jwtOf = (payload: object) =>
    `e30.${Buffer.from(JSON.stringify(payload)).toString('base64url')}.${'x'.repeat(86)}`;

  test.each(['client_id', 'redirect_uri', 'resource', 'state', 'scope', 'purpose', 'login_hint', 'x'])(
    'in `%s` of a link is a bad request',
    async (name) => {
      const { link } = await victim();

      const byLink = await visit(link, { [name]: `a${NUL}` });
      const byForm = await post(at('authorize'), {
        ...Object.fromEntries(link.searchParams),
        [name]: `a${NUL}`,
      });

      expect([byLink.status, byForm.status]).toEqual([400, 400]);
      expect((await visit(link, { x: 'a' })).status).toBe(303);
    },
  );

  test.each(['client_id', 'code', 'resource', 'scope', 'redirect_uri', 'code_verifier'])(
    'in `%s` of a token request is a bad request',
    async (name) => {
      const { form } = await victim();

      const answer = await post(at('token'), { ...form, [name]: `a${NUL}` });

      expect([answer.status, await errorIn(answer)]).toEqual([400, 'invalid_request']);
      expect((await post(at('token'), form)).status).toBe(200);
    },
  );

  test.each(['token', 'client_id', 'token_type_hint'])(
    'in `%s` of a question is a bad request',
    async (name) => {
      const { clientId } = await victim();
      for (const path of ['revoke', 'introspect']) {
        const form = { client_id: clientId, token: 'unknown' };
        const answer = await post(at(path), { ...form, [name]: `a${NUL}` });

        expect([answer.status, await errorIn(answer)]).toEqual([400, 'invalid_request']);
        expect((await post(at(path), form)).status).toBe(200);
      }
    },
  );

  test('in what an unverified token or the credentials of a client state is refused alike', async () => {
    const { link } = await victim();
    const metadata = { redirect_uris: ['http://127.0.0.1/callback'], client_name: 'Stranger' };
    const registered = await fetch(at('register'), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(metadata),
    });
    const { client_id: stranger } = Object(await registered.json());
    const grant = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
    const assertionType = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
    const basic = `Basic ${Buffer.from('ag_%00:x').toString('base64')}`;
    const details = JSON.stringify([{ type: 'a', b: NUL }]);
    const resource = `https://a.test/${NUL}`;

    const answers = [
      await post(at('token'), { client_id: stranger, grant_type: grant, assertion: jwtOf({ resource }) }),
      await post(at('token'), {
        grant_type: 'refresh_token',
        client_assertion_type: assertionType,
        client_assertion: jwtOf({ sub: NUL }),
      }),
      await post(at('revoke'), { token: 'x' }, { authorization: basic }),
      await post(at('token'), {
        client_id: stranger,
        grant_type: 'refresh_token',
        refresh_token: jwtOf({ dev: `dev_${NUL}` }),
      }),
    ];

    expect(answers.map(({ status }) => status)).toEqual([400, 401, 401, 400]);
    const sentBack = locationOf(await visit(link, { authorization_details: details }));
    expect(sentBack.searchParams.get('error')).toBe('invalid_authorization_details');
  });
});

describe('a link, whose query no schema reads,', () => {
  test.each(['x'.repeat(257), 'a\nb', 'a\u0085b'])('names no person of the sandbox as %j', async (hint) => {
    const { link } = await victim();

    const answer = locationOf(await visit(link, { login_hint: hint }));

    expect([answer.searchParams.get('error'), answer.searchParams.get('code')]).toEqual([
      'invalid_request',
      null,
    ]);
    const good = locationOf(await visit(link, { login_hint: 'x'.repeat(256) }));
    expect(good.searchParams.get('code')).not.toBeNull();
  });

  test('names five resources at most, as a form does', async () => {
    const { acme, link } = await victim();
    const uris = [1, 2, 3, 4, 5, 6].map((each) => `http://localhost:8080/many/${process.pid}/${each}`);
    for (const uri of uris) await newResource(acme, uri);
    const ask = async (resources: readonly string[]) => {
      const changed = new URL(link);
      for (const resource of resources) changed.searchParams.append('resource', resource);
      return locationOf(await visit(changed)).searchParams.get('error');
    };

    expect(await ask(uris)).toBe('invalid_target');
    expect(await ask(uris.slice(1))).toBeNull();
  });
});
