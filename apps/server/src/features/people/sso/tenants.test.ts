import { expect, test } from 'vitest';
import { startAccountsServer } from '../../../../test/app/accounts-server.ts';
import { refusalOf } from '../../../../test/app/flow.ts';
import { addSaml } from '../../../../test/app/saml-provider.ts';
import { addOidc, besideProvider, signOn, startLogin } from '../../../../test/app/signing-on.ts';
import { startApp } from '../../../../test/app/start-app.ts';

test('no route of single sign-on reaches what belongs to another developer', async () => {
  const provider = await startAccountsServer();
  const service = await startApp(besideProvider());
  const [acme, mallory] = [await service.asDeveloper(), await service.asDeveloper()];
  const own = await addOidc(acme, provider, { domains: ['upstream.test'] });
  const saml = await addSaml(acme, { name: 'SAML' });
  const session = await signOn(service, provider, { org: acme.developerId, connection: own.id });
  const other = await addOidc(mallory, provider);
  const path = `/v1/sso/connections/${own.id}`;
  const config = { issuerUrl: 'https://idp.example', clientId: 'c', clientSecret: 's' };
  const before = (await acme('GET', '/v1/sso/connections')).json();
  const post = (url: string, body: object) => service.app.inject({ method: 'POST', url, body });

  /** Each route with ids of Acme, called by Mallory: its answer. */
  const walk: Readonly<Record<string, () => Promise<unknown>>> = {
    'POST /v1/sso/connections': async () =>
      refusalOf(await mallory('POST', '/v1/sso/connections', { ...own, id: own.id })),
    'GET /v1/sso/connections': async () =>
      (await mallory('GET', '/v1/sso/connections')).json().connections.map(({ id }: { id: string }) => id),
    'GET /v1/sso/connections/:id': async () => refusalOf(await mallory('GET', path)),
    'PATCH /v1/sso/connections/:id': async () => refusalOf(await mallory('PATCH', path, { name: 'x' })),
    'DELETE /v1/sso/connections/:id': async () => refusalOf(await mallory('DELETE', path)),
    'POST /v1/sso/connections/:id/test': async () => refusalOf(await mallory('POST', `${path}/test`, {})),
    'POST /v1/sso/metadata': async () =>
      refusalOf(await mallory('POST', '/v1/sso/metadata', { metadata: own.id })),
    'GET /v1/sso/connections/:id/identities': async () =>
      refusalOf(await mallory('GET', `${path}/identities?principalId=ada`)),
    'PUT /v1/sso/connections/:id/identities': async () =>
      refusalOf(await mallory('PUT', `${path}/identities`, { principalId: 'ada', subject: 's' })),
    'POST /v1/sso/enforce': async () => {
      await mallory('POST', `/v1/sso/connections/${other.id}/test`, {});
      return refusalOf(await mallory('POST', '/v1/sso/enforce', { enforce: true }));
    },
    'POST /v1/sso/config': async () =>
      refusalOf(await mallory('POST', '/v1/sso/config', { ...config, redirectUri: 'https://m.test/' })),
    'GET /v1/sso/config': async () => (await mallory('GET', '/v1/sso/config')).json().clientId,
    'DELETE /v1/sso/config': async () => refusalOf204(await mallory('DELETE', '/v1/sso/config')),
    'GET /v1/sso/sessions': async () =>
      (await mallory('GET', `/v1/sso/sessions?connectionId=${own.id}`)).json().sessions.length,
    'DELETE /v1/sso/sessions/:id': async () =>
      refusalOf(await mallory('DELETE', `/v1/sso/sessions/${session.sessionId}`)),
    'GET /sso/login': async () =>
      refusalOf(await startLogin(service, { org: mallory.developerId, connection: own.id })),
    'GET /sso/discover': async () =>
      refusalOf(await service.app.inject({ url: '/sso/discover?domain=upstream.test' })),
    'GET /sso/callback': async () => refusalOf(await service.app.inject({ url: '/sso/callback?state=x' })),
    'POST /sso/callback': async () => refusalOf(await post('/sso/callback', { state: 'x' })),
    'POST /sso/callback/oidc': async () => refusalOf(await post('/sso/callback/oidc', { state: 'x' })),
    'POST /sso/callback/saml': async () =>
      refusalOf(await post('/sso/callback/saml', { SAMLResponse: 'x', RelayState: 'x' })),
    'POST /sso/callback/ldap': async () => {
      const typed = { username: 'a', password: 'b', connectionId: own.id };
      return refusalOf(await post('/sso/callback/ldap', { ...typed, org: mallory.developerId }));
    },
    'GET /sso/logout': async () => {
      const cookie = `__Host-bh_sso_session=${mallory.developerId}.${session.sessionId}.secret`;
      return (await service.app.inject({ url: '/sso/logout', headers: { cookie } })).body.includes('<form');
    },
    'POST /sso/logout': async () => {
      const cookie = `__Host-bh_sso_session=${mallory.developerId}.${session.sessionId}.secret`;
      const answer = await service.app.inject({ method: 'POST', url: '/sso/logout', headers: { cookie } });
      return answer.json().signedOut;
    },
    // Metadata for a provider are public, and hold no more than the members that the provider was given.
    'GET /sso/saml/:connectionId/metadata': async () =>
      (await service.app.inject({ url: `/sso/saml/${saml.id}/metadata` })).body.includes(own.id),
  };
  const said: Record<string, unknown> = {};
  for (const [route, call] of Object.entries(walk)) said[route] = await call();

  expect(said).toEqual({
    ...Object.fromEntries(Object.keys(walk).map((route) => [route, '404 NOT_FOUND'])),
    'POST /v1/sso/connections': '400 BAD_REQUEST', // an id is the service's to give
    'GET /v1/sso/connections': [other.id],
    'POST /v1/sso/metadata': '400 BAD_REQUEST', // it reads nothing but what is sent
    'POST /v1/sso/enforce': '200',
    'POST /v1/sso/config': '201',
    'GET /v1/sso/config': 'c',
    'DELETE /v1/sso/config': '204',
    'GET /v1/sso/sessions': 0,
    'GET /sso/callback': '400 BAD_REQUEST',
    'POST /sso/callback': '400 BAD_REQUEST',
    'POST /sso/callback/oidc': '400 BAD_REQUEST',
    'POST /sso/callback/saml': '400 BAD_REQUEST',
    'GET /sso/logout': false,
    'POST /sso/logout': false,
    'GET /sso/saml/:connectionId/metadata': false,
  });
  const routes = service.routes.map(({ method, url }) => `${String(method)} ${url}`);
  // Signals, setup links and assertions are other features, whose routes the walk over all routes tries. The page of a
  // directory takes the state of a login, as its callback does.
  const isOthers = (route: string) => /signals$|setup-links|id-jag|\/clients|\/sso\/ldap$/.test(route);
  const ours = routes.filter(
    (route) => /^(?:GET|POST|PATCH|PUT|DELETE) (?:\/v1)?\/sso\//.test(route) && !isOthers(route),
  );
  expect(Object.keys(walk).sort()).toEqual(ours.sort());
  expect((await acme('GET', '/v1/sso/connections')).json()).toEqual(before);
  expect((await acme('GET', '/v1/sso/sessions')).json().sessions).toHaveLength(1);
});

const refusalOf204 = ({ statusCode }: { readonly statusCode: number }) => String(statusCode);
