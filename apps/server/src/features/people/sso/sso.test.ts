import { expect, test } from 'vitest';
import { startAccountsServer } from '../../../../test/app/accounts-server.ts';
import { entriesOf, refusalOf } from '../../../../test/app/flow.ts';
import {
  APP_BACK,
  addOidc,
  besideProvider,
  bringBack,
  signOn,
  startLogin,
} from '../../../../test/app/signing-on.ts';
import { startApp } from '../../../../test/app/start-app.ts';

async function startWithProvider(members: object = {}) {
  const provider = await startAccountsServer();
  const service = await startApp(besideProvider());
  const acme = await service.asDeveloper();
  const connection = await addOidc(acme, provider, members);
  const org = acme.developerId;
  return { provider, service, acme, connection, org };
}

test('a person signs in at an OpenID provider, and the session is listed', async () => {
  const { provider, service, acme, connection, org } = await startWithProvider({
    defaultScopes: ['files:read'],
  });

  const begun = await startLogin(service, { org });
  const session = await signOn(service, provider, { org });

  expect(begun.json()).toEqual({
    authorizeUrl: expect.stringContaining(`${provider.issuer}/auth?`),
    protocol: 'oidc',
    connectionId: connection.id,
  });
  expect(session).toMatchObject({
    sub: 'ada',
    email: 'ada@upstream.test',
    principalId: null,
    groups: [],
    mappedScopes: ['files:read'],
    developerId: org,
  });
  const { sessions } = (await acme('GET', '/v1/sso/sessions')).json();
  expect(sessions).toMatchObject([{ id: session.sessionId, connectionId: connection.id, idpSubject: 'ada' }]);
  expect(await entriesOf(acme, 'sso.login')).toMatchObject([
    { metadata: { protocol: 'oidc', sessionId: session.sessionId } },
  ]);
});

test('a connection shows no secret, and a change of the provider demands its own', async () => {
  const { acme, connection } = await startWithProvider();
  const path = `/v1/sso/connections/${connection.id}`;

  const shown = await acme('GET', path);
  const listed = await acme('GET', '/v1/sso/connections');
  const moved = await acme('PATCH', path, { issuerUrl: 'https://other.example' });
  const complete = await acme('PATCH', path, { issuerUrl: 'https://other.example', clientSecret: 'its own' });

  expect(shown.json()).toEqual(connection);
  expect(shown.body).not.toContain('ecret');
  expect(listed.json()).toEqual({ connections: [connection], nextCursor: null });
  expect(moved.json()).toMatchObject({
    code: 'BAD_REQUEST',
    details: { fields: [{ path: 'clientSecret' }] },
  });
  expect(complete.json()).toMatchObject({ issuerUrl: 'https://other.example' });
});

test('another provider, another status and the deletion end the sessions', async () => {
  const { provider, service, acme, connection, org } = await startWithProvider();
  const path = `/v1/sso/connections/${connection.id}`;
  const count = async () => (await acme('GET', '/v1/sso/sessions')).json().sessions.length;

  await signOn(service, provider, { org });
  await acme('PATCH', path, { name: 'Only a name' });
  expect(await count()).toBe(1); // the control
  await acme('PATCH', path, { status: 'testing' });
  expect(await count()).toBe(0);
  await signOn(service, provider, { org, connection: connection.id });
  await acme('DELETE', path);
  expect(await count()).toBe(0);
  expect(await entriesOf(acme, 'sso.session.revoked')).toHaveLength(2);
});

test('a session ends when it is revoked, and at its instant', async () => {
  const { provider, service, acme, org } = await startWithProvider();
  const one = await signOn(service, provider, { org });
  await signOn(service, provider, { org });
  const count = async () => (await acme('GET', '/v1/sso/sessions')).json().sessions.length;

  expect((await acme('DELETE', `/v1/sso/sessions/${one.sessionId}`)).statusCode).toBe(204);
  expect(refusalOf(await acme('DELETE', `/v1/sso/sessions/${one.sessionId}`))).toBe('404 NOT_FOUND');
  expect(await count()).toBe(1);
  service.advance(8 * 3600);
  expect(await count()).toBe(0);
});

test('M8: a state works once, in ten minutes, unaltered, and with the address it was made for', async () => {
  const { provider, service, org } = await startWithProvider();
  const begin = async () => {
    const { authorizeUrl } = (await startLogin(service, { org })).json();
    return provider.visit(authorizeUrl);
  };
  const once = await begin();
  const altered = await begin();
  altered.searchParams.set('state', `${altered.searchParams.get('state')}x`);

  const control = await bringBack(service, once);
  const twice = await bringBack(service, once);
  const other = await bringBack(service, await begin(), { redirect_uri: 'https://mallory.test' });
  const late = await begin();
  service.advance(600);

  expect(control.statusCode).toBe(200);
  expect(refusalOf(twice)).toBe('400 BAD_REQUEST');
  expect(refusalOf(await bringBack(service, altered))).toBe('400 BAD_REQUEST');
  expect(refusalOf(other)).toBe('400 BAD_REQUEST');
  expect(refusalOf(await bringBack(service, late))).toBe('400 BAD_REQUEST');
});

test('M8: a browser is bound by its cookie, and returns to its path', async () => {
  const { provider, service, org } = await startWithProvider();
  const begin = async () => {
    const answer = await startLogin(service, { org, mode: 'redirect', return_to: '/permissions' });
    const cookie = answer.cookies.map(({ name, value }) => `${name}=${value}`).join('; ');
    return { answer, cookie, back: await provider.visit(String(answer.headers.location)) };
  };
  const bring = (back: URL, cookie = '') =>
    service.app.inject({ url: back.pathname + back.search, headers: { cookie } });
  const own = await begin();
  const stolen = await begin();

  const landed = await bring(own.back, own.cookie);

  expect(own.answer.cookies).toMatchObject([
    {
      name: expect.stringMatching(/^__Host-bh_sso\.[\w-]{12}$/),
      httpOnly: true,
      secure: true,
      sameSite: 'Lax',
      maxAge: 600,
    },
  ]);
  expect(landed.statusCode).toBe(302);
  expect(landed.headers.location).toBe('/permissions');
  expect(landed.cookies[0]).toMatchObject({ name: '__Host-bh_sso_session', httpOnly: true, sameSite: 'Lax' });
  expect(refusalOf(await bring(stolen.back))).toBe('400 BAD_REQUEST');
  expect(refusalOf(await bring(stolen.back, own.cookie))).toBe('400 BAD_REQUEST');
  expect((await bring(stolen.back, stolen.cookie)).statusCode).toBe(302); // the others used nothing up
  expect(refusalOf(await bring(stolen.back, stolen.cookie))).toBe('400 BAD_REQUEST');
});

test('b01: logins in several tabs of a browser end in any order, and the ninth takes the place of the first', async () => {
  const { provider, service, org } = await startWithProvider();
  const jar = new Map<string, string>();
  const visit = async (url: string) => {
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const answer = await service.app.inject({ url, headers: { cookie } });
    for (const { name, value, maxAge } of answer.cookies) {
      if (maxAge === 0) jar.delete(name);
      else jar.set(name, value);
    }
    return answer;
  };
  const query = new URLSearchParams({ org, mode: 'redirect', return_to: '/permissions' });
  const begin = async () => {
    const { headers } = await visit(`/sso/login?${query}`);
    return provider.visit(String(headers.location));
  };
  const end = async ({ pathname, search }: URL) => (await visit(pathname + search)).statusCode;
  const logins = () => [...jar.keys()].filter((name) => name.startsWith('__Host-bh_sso.'));
  const [first, second] = [await begin(), await begin()];

  expect(logins()).toHaveLength(2);
  expect([await end(second), await end(first)]).toEqual([302, 302]);
  expect(logins()).toEqual([]);

  const tabs: URL[] = [];
  for (let tab = 0; tab < 9; tab += 1) tabs.push(await begin());
  expect(logins()).toHaveLength(8);
  const [oldest, ...others] = tabs;
  for (const tab of others.reverse()) expect(await end(tab)).toBe(302);
  expect(oldest && (await end(oldest))).toBe(400);
});

test('K2: a parameter of the answer without a value is left out', async () => {
  const { provider, service, org } = await startWithProvider();
  const bring = async (parameters: Record<string, string>) => {
    const { authorizeUrl } = (await startLogin(service, { org })).json();
    const back = await provider.visit(authorizeUrl);
    for (const [name, value] of Object.entries(parameters)) back.searchParams.set(name, value);
    return refusalOf(await bringBack(service, back));
  };

  expect(await bring({ error: '', error_description: '', session_state: '' })).toBe('200');
  expect(await bring({ error: 'access_denied', code: '' })).toBe('401 SSO_AUTH_FAILED');
  expect(await bring({ code: '' })).toBe('400 BAD_REQUEST');
});

test('K5, o06: a code has up to 8 KiB', async () => {
  const { provider, service, org } = await startWithProvider();
  const codes: number[] = [];
  provider.behaviour.instead = (request, respond) => {
    if (request.url !== '/token') return false;
    request.on('data', (form) => codes.push(String(new URLSearchParams(String(form)).get('code')).length));
    request.on('end', () => respond(400, { error: 'invalid_grant' }));
    return true;
  };
  const bring = async (length: number) => {
    const { authorizeUrl } = (await startLogin(service, { org })).json();
    const back = await provider.visit(authorizeUrl);
    back.searchParams.set('code', 'c'.repeat(length));
    return refusalOf(await bringBack(service, back));
  };

  expect(await bring(8192)).toBe('401 SSO_AUTH_FAILED');
  expect(codes).toEqual([8192]);
  expect(await bring(8193)).toBe('400 BAD_REQUEST');
});

test.each(['//evil.test', '/\\evil.test', 'https:evil.test', 'https://evil.test/', '/%0d', '/.//evil.test'])(
  'M11: a browser is not sent to %s',
  async (path) => {
    const { service, org } = await startWithProvider();
    const query = { org, mode: 'redirect', return_to: path };
    const answer = await startLogin(service, query);
    const target = path === '/%0d' ? 302 : 400;
    expect(answer.statusCode).toBe(target);
  },
);

test('the connection is chosen by id, by domain or because it is the only one', async () => {
  const { provider, service, acme, connection, org } = await startWithProvider({
    domains: ['Upstream.test'],
  });
  const chosenBy = async (query: Record<string, string>) => {
    const answer = await startLogin(service, { org, ...query });
    return answer.json().connectionId ?? refusalOf(answer);
  };
  expect(await chosenBy({})).toBe(connection.id);
  const open = await addOidc(acme, provider, { name: 'Without domains' });
  const taken = await acme('PATCH', `/v1/sso/connections/${open.id}`, { domains: ['upstream.test'] });

  expect(refusalOf(taken)).toBe('409 CONFLICT');
  expect(await chosenBy({})).toBe('400 SSO_DOMAIN_REQUIRED');
  expect(await chosenBy({ domain: 'UPSTREAM.test' })).toBe(connection.id);
  expect(await chosenBy({ domain: 'else.test' })).toBe(open.id);
  expect(await chosenBy({ connection: 'sso_none' })).toBe('404 NOT_FOUND');
  expect(refusalOf(await startLogin(service, { domain: 'upstream.test' }))).toBe('400 BAD_REQUEST');
  const foreign = await service.asDeveloper();
  expect(refusalOf(await startLogin(service, { org: foreign.developerId, connection: connection.id }))).toBe(
    '404 NOT_FOUND',
  );
  expect(
    refusalOf(await startLogin(service, { org, connection: open.id, redirect_uri: `${APP_BACK}/` })),
  ).toBe('400 BAD_REQUEST');
});

test('an address outside the domains of the connection is refused', async () => {
  const { provider, service, org } = await startWithProvider({ domains: ['acme.test'] });
  const { authorizeUrl } = (await startLogin(service, { org })).json();
  const answer = await bringBack(service, await provider.visit(authorizeUrl));
  expect(refusalOf(answer)).toBe('403 SSO_DOMAIN_NOT_ALLOWED');
});

test('a test of a connection says what failed', async () => {
  const { provider, acme, connection } = await startWithProvider();
  const path = `/v1/sso/connections/${connection.id}`;
  const good = await acme('POST', `${path}/test`, {});
  await acme('PATCH', path, { issuerUrl: `${provider.issuer}/nowhere`, clientSecret: 'x' });
  const bad = await acme('POST', `${path}/test`, {});

  expect(good.json()).toMatchObject({
    success: true,
    issuer: provider.issuer,
    jwksUri: `${provider.issuer}/jwks`,
  });
  expect(bad.json()).toMatchObject({ success: false, error: 'no_metadata', message: expect.any(String) });
});

test('enforcement needs a connection that works, and keeps its last one', async () => {
  const { acme, connection, org } = await startWithProvider();
  const path = `/v1/sso/connections/${connection.id}`;
  const early = await acme('POST', '/v1/sso/enforce', { enforce: true });
  await acme('POST', `${path}/test`, {});
  const late = await acme('POST', '/v1/sso/enforce', { enforce: true });

  expect(refusalOf(early)).toBe('409 CONFLICT');
  expect(late.json()).toEqual({ enforce: true, developerId: org });
  expect((await acme('GET', path)).json().enforce).toBe(true);
  expect(refusalOf(await acme('DELETE', path))).toBe('409 CONFLICT');
  expect(refusalOf(await acme('PATCH', path, { status: 'inactive' }))).toBe('409 CONFLICT');
  await acme('POST', '/v1/sso/enforce', { enforce: false });
  expect((await acme('DELETE', path)).statusCode).toBe(204);
});

test('older clients keep one configuration', async () => {
  const { acme } = await startWithProvider();
  const config = { issuerUrl: 'https://idp.example', clientId: 'one', redirectUri: APP_BACK };
  expect(refusalOf(await acme('GET', '/v1/sso/config'))).toBe('404 NOT_FOUND');
  const first = await acme('POST', '/v1/sso/config', { ...config, clientSecret: 's' });
  const again = await acme('POST', '/v1/sso/config', { ...config, clientId: 'two', clientSecret: 's' });

  expect(first.json()).toEqual({ ...config, createdAt: expect.any(String), updatedAt: expect.any(String) });
  expect([first.statusCode, again.statusCode]).toEqual([201, 201]);
  expect((await acme('GET', '/v1/sso/config')).json()).toMatchObject({ clientId: 'two' });
  expect((await acme('DELETE', '/v1/sso/config')).statusCode).toBe(204);
  expect(refusalOf(await acme('DELETE', '/v1/sso/config'))).toBe('404 NOT_FOUND');
});
