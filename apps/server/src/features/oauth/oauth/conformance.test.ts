import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newClient, pkceLink } from '../../../../test/app/oauth.ts';
import { linkParts, personOn } from '../../../../test/app/person.ts';
import { newProver } from '../../../../test/app/prover.ts';
import { besideClients, followLink, LISTENING, sendForm } from '../../../../test/app/published.ts';
import { type Developer, type Service, startApp } from '../../../../test/app/start-app.ts';

/** The second is for caches that know HTTP/1.0 alone. */
const UNCACHED = { 'cache-control': 'no-store', pragma: 'no-cache' };

/** Cases of the lists in `docs/conformance.md` that no other file has. */
let service: Service;
beforeAll(async () => {
  const env = { ...besideClients, RATE_LIMIT_OAUTH_AUTHORIZE: '1000', RATE_LIMIT_OAUTH_TOKEN: '1000' };
  service = await startApp({ env, isShared: true });
});
afterAll(() => service.stop());

async function publicClient(authMethod = 'none') {
  const acme = await service.asDeveloper({ mode: 'sandbox' });
  const { clientId, clientSecret = '' } = await newClient(acme, { authMethod, redirectUris: [LISTENING] });
  return { acme, clientId, clientSecret };
}

describe('an authorization request', () => {
  test('agents 21: has its state returned as it was, with 8,192 characters and signs of every kind, and none made up', async () => {
    const { clientId } = await publicClient();
    const state = `${'é&=+%20 "\\'.repeat(1000)}`.slice(0, 8192);

    const { back } = await followLink(service, clientId, { state });
    const without = await followLink(service, clientId, {});

    expect(back?.searchParams.get('state')).toBe(state);
    expect(back?.searchParams.get('code')).toBeTruthy();
    expect(without.back?.searchParams.has('state')).toBe(false);
    const long = await followLink(service, clientId, { state: `${state}x` });
    expect(long.back?.searchParams.get('error')).toBe('invalid_request');
    expect(long.back?.searchParams.has('state')).toBe(false); // no address is as long as a client likes
  });

  test.each([
    ['unsupported_response_type', { response_type: 'token' }],
    ['unsupported_response_type', { response_type: 'code id_token' }],
    ['invalid_request', { response_mode: 'fragment' }],
    ['request_not_supported', { request: 'x.y.z' }],
    ['interaction_required', { prompt: 'none' }],
    ['invalid_scope', { scope: '' }],
    ['invalid_target', { resource: 'https://unknown.test/mcp' }],
    ['invalid_authorization_details', { authorization_details: '{}' }],
  ])('is refused at the address of the client with %s: %o', async (error, parameters) => {
    const { clientId } = await publicClient();

    const { back } = await followLink(service, clientId, { ...parameters, state: 's' });

    expect(back?.href.startsWith(LISTENING)).toBe(true);
    expect(Object.fromEntries(back?.searchParams ?? [])).toMatchObject({
      ...{ error, state: 's', iss: 'https://auth.test' },
    });
    expect(back?.searchParams.has('code')).toBe(false);
  });

  test.each<[string, (acme: Developer, path: string) => ReturnType<Developer>]>([
    ['suspended', (acme, path) => acme('PATCH', path, { status: 'suspended' })],
    ['revoked', (acme, path) => acme('DELETE', path)],
  ])('RFC 6749 §4.1.2.1: is refused with unauthorized_client once its agent is %s', async (_, stop) => {
    const { acme, clientId } = await publicClient();
    const before = await followLink(service, clientId, {});

    await stop(acme, `/v1/agents/${clientId}`);
    const { back } = await followLink(service, clientId, { state: 's' });

    expect(before.back?.searchParams.get('code')).toBeTruthy();
    expect(back?.href.startsWith(LISTENING)).toBe(true);
    expect(Object.fromEntries(back?.searchParams ?? [])).toMatchObject({
      ...{ error: 'unauthorized_client', state: 's' },
    });
  });

  test('has a response type', async () => {
    const { clientId } = await publicClient();
    const { link } = await pkceLink(clientId, { redirect_uri: LISTENING, state: 's' });
    const { response_type: _, ...form } = Object.fromEntries(new URL(link).searchParams);

    const { location } = (await sendForm(service, 'authorize', form)).headers;

    const told = Object.fromEntries(new URL(String(location)).searchParams);
    expect(told).toMatchObject({ error: 'invalid_request', state: 's', iss: 'https://auth.test' });
  });

  test('may have a parameter that nobody knows, and its scopes in any order', async () => {
    const { clientId } = await publicClient();
    const scopesOf = async (parameters: Record<string, string>) => {
      const { back, verifier } = await followLink(service, clientId, parameters);
      const code = back?.searchParams.get('code') ?? '';
      const form = { grant_type: 'authorization_code', client_id: clientId, redirect_uri: LISTENING };
      return (await sendForm(service, 'token', { ...form, code, code_verifier: verifier })).json().scope;
    };

    expect(await scopesOf({ extra: 'x' })).toBe('calendar:read');
    const [first, second] = [
      await scopesOf({ scope: 'calendar:read mail:read' }),
      await scopesOf({ scope: 'mail:read calendar:read' }),
    ];
    expect([first, second].map((scope) => scope.split(' ').sort().join(' '))).toEqual([
      'calendar:read mail:read',
      'calendar:read mail:read',
    ]);
  });

  test('is the same by GET and by POST', async () => {
    const { clientId } = await publicClient();
    const { link } = await pkceLink(clientId, { redirect_uri: LISTENING });
    const form = Object.fromEntries(new URL(link).searchParams);

    const answer = await sendForm(service, 'authorize', form);

    expect([answer.statusCode, String(answer.headers.location).startsWith(`${LISTENING}?code=`)]).toEqual([
      303,
      true,
    ]);
  });

  test('a denial of the person reaches the client, with state and issuer and without a code', async () => {
    const { clientId } = await publicClient();
    const { back } = await followLink(service, clientId, { prompt: 'consent', state: 's' });
    const person = personOn(service);
    await person.open(back?.href ?? '');

    const { id } = linkParts(back?.href ?? '');
    const { redirectTo } = (await person.call('POST', `/v1/consent/${id}/deny`, { body: {} })).json();

    expect(Object.fromEntries(new URL(redirectTo).searchParams)).toEqual({
      ...{ error: 'access_denied', state: 's', iss: 'https://auth.test' },
    });
  });
});

describe('a pushed request', () => {
  test.each([
    ['invalid_request', { request_uri: 'urn:ietf:params:oauth:request_uri:x' }],
    ['invalid_request', { redirect_uri: 'https://evil.test/cb' }],
    ['invalid_request', { redirect_uri: '' }],
    ['invalid_request', { code_challenge: '' }],
    ['invalid_request', { code_challenge_method: 'plain' }],
    ['unsupported_response_type', { response_type: 'token' }],
    ['request_not_supported', { request: 'x.y.z' }],
    ['invalid_scope', { scope: '' }],
    ['invalid_target', { resource: 'https://unknown.test/mcp' }],
    ['invalid_client', { client_secret: 'wrong' }],
    ['invalid_request', { principal_id: 'a\u0001' }],
    ['invalid_request', { principal_id: 'x'.repeat(257) }],
  ])('is refused with %s before a browser follows it: %o', async (error, parameters) => {
    const { clientId, clientSecret } = await publicClient('client_secret_post');
    const { link } = await pkceLink(clientId, { redirect_uri: LISTENING });
    const good = {
      ...{ ...Object.fromEntries(new URL(link).searchParams), client_secret: clientSecret },
      principal_id: 'x'.repeat(256),
    };

    const answer = await sendForm(service, 'par', { ...good, ...parameters });

    expect(answer.json().error).toBe(error);
    expect(answer.json()).not.toHaveProperty('request_uri');
    expect((await sendForm(service, 'par', good)).statusCode).toBe(201);
  });
});

test.each(['par', 'token', 'device_authorization', 'bc-authorize', 'introspect', 'revoke'])(
  'RFC 6749 §5.1: no cache keeps an answer of /oauth/%s',
  async (path) => {
    const { clientId, clientSecret } = await publicClient('client_secret_post');
    const { link } = await pkceLink(clientId, { redirect_uri: LISTENING });
    const { back, verifier } = await followLink(service, clientId, {});
    const form = {
      ...{ ...Object.fromEntries(new URL(link).searchParams), client_secret: clientSecret },
      ...{ grant_type: 'authorization_code', code: back?.searchParams.get('code') ?? '' },
      ...{ code_verifier: verifier, token: 'x', login_hint: 'ada' },
    };

    const [good, refused] = [await sendForm(service, path, form), await sendForm(service, path, {})];

    expect([good, refused].map(({ statusCode }) => Math.floor(statusCode / 100))).toEqual([2, 4]);
    for (const { headers } of [good, refused]) expect(headers).toMatchObject(UNCACHED);
  },
);

describe('the token endpoint', () => {
  test('takes POST alone, and keeps every answer out of caches', async () => {
    const { clientId } = await publicClient();

    const read = await service.app.inject({ url: '/oauth/token?grant_type=authorization_code' });
    const refused = await sendForm(service, 'token', { client_id: clientId, grant_type: 'none' });

    expect([read.statusCode, refused.statusCode]).toEqual([405, 400]);
    for (const { headers } of [read, refused]) expect(headers).toMatchObject(UNCACHED);
  });

  test.each(['implicit', 'password', 'urn:ietf:params:oauth:grant-type:saml2-bearer'])(
    'has no grant type %s',
    async (grantType) => {
      const { clientId } = await publicClient();

      const answer = await sendForm(service, 'token', { client_id: clientId, grant_type: grantType });

      expect([answer.statusCode, answer.json().error]).toEqual([400, 'unsupported_grant_type']);
    },
  );

  test('binds a code to the key that was shown when the request was pushed', async () => {
    const { clientId } = await publicClient();
    const [own, other] = [
      await newProver(service, 'https://auth.test'),
      await newProver(service, 'https://auth.test'),
    ];
    const { link, verifier } = await pkceLink(clientId, { redirect_uri: LISTENING });
    const send = (path: string, form: Record<string, string>, dpop: string) =>
      service.app.inject({
        method: 'POST',
        url: path,
        headers: { 'content-type': 'application/x-www-form-urlencoded', dpop },
        payload: new URLSearchParams(form).toString(),
      });
    const pushed = await send(
      '/oauth/par',
      Object.fromEntries(new URL(link).searchParams),
      await own.proof({ htu: 'https://auth.test/oauth/par' }),
    );
    const asked = new URLSearchParams({ client_id: clientId, request_uri: pushed.json().request_uri });
    const answer = await service.app.inject({ url: `/oauth/authorize?${asked}` });
    const form = {
      ...{ grant_type: 'authorization_code', client_id: clientId, redirect_uri: LISTENING },
      code: new URL(String(answer.headers.location)).searchParams.get('code') ?? '',
      code_verifier: verifier,
    };

    const stolen = await send('/oauth/token', form, await other.proof());
    const unbound = await sendForm(service, 'token', form);
    const good = await send('/oauth/token', form, await own.proof());

    expect([stolen.json().error, unbound.json().error]).toEqual(['invalid_grant', 'invalid_grant']);
    expect(good.json().token_type).toBe('DPoP');
  });
});

test('the names of the schemes of tokens may be written in any case', async () => {
  const acme = await service.asDeveloper({ mode: 'sandbox' });
  const { clientId } = await newClient(acme, { authMethod: 'none', redirectUris: [LISTENING] });
  const { back, verifier } = await followLink(service, clientId, { scope: 'github:read' });
  const tokens = await sendForm(service, 'token', {
    ...{ grant_type: 'authorization_code', client_id: clientId, redirect_uri: LISTENING },
    ...{ code: back?.searchParams.get('code') ?? '', code_verifier: verifier },
  });
  const statusWith = async (scheme: string) => {
    const headers = { authorization: `${scheme} ${tokens.json().access_token}` };
    const url = '/v1/vault/credentials/exchange';
    const body = { service: 'github' };
    return (await service.app.inject({ method: 'POST', url, headers, body })).statusCode;
  };

  expect(await Promise.all(['Bearer', 'bearer', 'BEARER', 'Basic'].map(statusWith))).toEqual([
    ...[404, 404, 404], // the token is good, and there is no credential
    401,
  ]);
});
