import { randomBytes } from 'node:crypto';
import { decodeJwt } from 'jose';
import { expect, test } from 'vitest';
import { startAccountsServer } from '../../../../test/app/accounts-server.ts';
import { entriesOf, refusalOf } from '../../../../test/app/flow.ts';
import { addSaml, beginSaml, postSaml, responseOf, signed } from '../../../../test/app/saml-provider.ts';
import { APP_BACK, addOidc, besideProvider, signOn } from '../../../../test/app/signing-on.ts';
import { newDatabase, type Service, startApp } from '../../../../test/app/start-app.ts';
import { rotateConnectionKeys } from './secrets.ts';

const html = { accept: 'text/html' };

/** Where the page after a form sends the browser. It is no redirect: browsers hold one to the form's `form-action`. */
function onwardIn({ statusCode, body }: { readonly statusCode: number; readonly body: string }): URL {
  expect(statusCode).toBe(200);
  const [, onward = ''] = /http-equiv="refresh" content="0; url=([^"]+)"/.exec(body) ?? [];
  return new URL(onward.replaceAll('&amp;', '&'), 'https://auth.test');
}

async function startSignedIn() {
  const provider = await startAccountsServer();
  const service = await startApp(besideProvider());
  const acme = await service.asDeveloper();
  const connection = await addOidc(acme, provider);
  const query = new URLSearchParams({ org: acme.developerId, mode: 'redirect' });
  const sent = await service.app.inject({ url: `/sso/login?${query}` });
  const back = await provider.visit(String(sent.headers.location));
  const cookie = sent.cookies.map(({ name, value }) => `${name}=${value}`).join('; ');
  const landed = await service.app.inject({ url: back.pathname + back.search, headers: { cookie } });
  const held = landed.cookies.find(({ name }) => name === '__Host-bh_sso_session');
  const session = `${held?.name}=${held?.value}`;
  const signOut = (path: string, headers: object = { cookie: session }) =>
    service.app.inject({ method: 'POST', url: `/sso/logout${path}`, headers: { ...headers } });
  const count = async () => (await acme('GET', '/v1/sso/sessions')).json().sessions.length;
  return { provider, service, acme, connection, session, signOut, count };
}

test('a browser signs out, here and at the provider, and comes back to a listed address', async () => {
  const { provider, acme, connection, session, signOut, count } = await startSignedIn();
  expect(await count()).toBe(1);

  const answer = await signOut(`?return_to=${encodeURIComponent(APP_BACK)}`, { cookie: session, ...html });

  const target = onwardIn(answer);
  expect(target.origin + target.pathname).toBe(`${provider.issuer}/session/end`);
  expect(Object.fromEntries(target.searchParams)).toEqual({
    client_id: connection.clientId,
    id_token_hint: expect.any(String),
    post_logout_redirect_uri: APP_BACK,
  });
  expect(answer.cookies).toMatchObject([{ name: '__Host-bh_sso_session', value: '', maxAge: 0, path: '/' }]);
  expect(await count()).toBe(0);
  expect(await entriesOf(acme, 'sso.session.revoked')).toMatchObject([
    { metadata: { reason: 'signed_out' } },
  ]);
});

test('o14: the provider gets the ID token of the session back, which the database has sealed', async () => {
  const { provider, service, acme, signOut } = await startSignedIn();
  const { logoutHint } = await service.db
    .selectFrom('ssoSessions')
    .select('logoutHint')
    .where('developerId', '=', acme.developerId)
    .executeTakeFirstOrThrow();

  const { providerUrl } = (await signOut('')).json();

  const hint = new URL(providerUrl).searchParams.get('id_token_hint') ?? '';
  expect(decodeJwt(hint)).toMatchObject({ iss: provider.issuer, sub: 'ada' });
  expect(logoutHint?.includes(hint.slice(0, 20))).toBe(false);
});

test('31 L5: a link from another site ends no session: it leads to a page whose button does', async () => {
  const { provider, service, session, signOut, count } = await startSignedIn();
  const path = `/sso/logout?return_to=${encodeURIComponent(APP_BACK)}`;
  const fetched = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', ...html };
  for (const method of ['GET', 'HEAD'] as const) {
    const linked = await service.app.inject({ method, url: path, headers: { cookie: session, ...fetched } });
    expect([method, linked.statusCode, linked.cookies]).toEqual([method, 200, []]);
  }
  const page = await service.app.inject({ url: path, headers: { cookie: session, ...html } });
  expect(page.body).toContain('<form class="lead" method="post"><button>Sign out</button></form>');
  expect(page.headers['content-security-policy']).toContain("form-action 'self';");
  const foreign = { cookie: session, ...html, origin: 'https://evil.test', 'sec-fetch-site': 'cross-site' };
  expect((await signOut('', foreign)).statusCode).toBe(403);
  expect(await count()).toBe(1);

  const own = { cookie: session, ...html, origin: 'https://auth.test', 'sec-fetch-site': 'same-origin' };
  expect(onwardIn(await signOut('', own)).origin).toBe(provider.issuer);
  expect(await count()).toBe(0);
});

test('a wrong cookie ends no session, and a browser without one is told that it is signed out', async () => {
  const { session, signOut, count, provider } = await startSignedIn();
  const wrong = await signOut('', { cookie: `${session}x` });
  const none = await signOut('', html);

  expect(wrong.json()).toEqual({ signedOut: false, providerUrl: null });
  expect(none.body).toContain('You are signed out');
  expect(await count()).toBe(1);
  expect((await signOut('')).json()).toEqual({
    signedOut: true,
    providerUrl: expect.stringContaining(provider.issuer),
  });
  expect(await count()).toBe(0);
});

test('M11: signing out leads to no other address, and ends nothing then', async () => {
  const { signOut, count } = await startSignedIn();
  for (const target of ['https://evil.test/', '//evil.test', '/\\evil.test']) {
    const answer = await signOut(`?return_to=${encodeURIComponent(target)}`);
    expect(refusalOf(answer)).toBe('400 BAD_REQUEST');
  }
  expect(await count()).toBe(1);
  expect((await signOut('?return_to=/permissions')).statusCode).toBe(200); // the control
});

test('a provider without a place to sign out ends the session here', async () => {
  const service = await startApp(besideProvider());
  const acme = await service.asDeveloper();
  await addSaml(acme);
  const begun = await beginSaml(service, acme.developerId, { mode: 'redirect' });
  const xml = signed(responseOf(service.clock(), { inResponseTo: begun.requestId }));
  const [login] = begun.answer.cookies;
  const landed = await postSaml(service, xml, begun.relayState, `${login?.name}=${login?.value}`);
  const cookie = landed.cookies.map(({ name, value }) => `${name}=${value}`).join('; ');

  const answer = await service.app.inject({
    method: 'POST',
    url: '/sso/logout?return_to=/permissions',
    headers: { cookie, ...html },
  });

  expect(onwardIn(answer).pathname).toBe('/permissions');
  expect((await acme('GET', '/v1/sso/sessions')).json().sessions).toEqual([]);
});

const newKey = () => randomBytes(32).toString('hex');

const withKeys = (databaseUrl: string, current: string, previous = '') =>
  startApp({
    ...besideProvider({ VAULT_ENCRYPTION_KEY: current, VAULT_ENCRYPTION_KEYS_PREVIOUS: previous }),
    databaseUrl,
  });

const depsOf = (service: Service, warnings: string[] = []) => ({
  ...service,
  vault: service.keyRing.vault,
  warn: (message: string) => void warnings.push(message),
});

const rowsIn = ({ db }: Service) => db.selectFrom('ssoConnections').selectAll().orderBy('protocol').execute();

test('V6: a rotation seals the secrets of connections under the current key, and people sign in meanwhile', async () => {
  const databaseUrl = await newDatabase();
  const [former, current] = [newKey(), newKey()];
  const provider = await startAccountsServer();
  const before = await withKeys(databaseUrl, former);
  const acme = await before.asDeveloper();
  const { id: connectionId } = await addOidc(acme, provider);
  await addSaml(acme); // has no secret
  const query = { org: acme.developerId, connection: connectionId };
  const rows = await rowsIn(before);
  const after = await withKeys(databaseUrl, current, former);
  const begun = await startOf(after, provider, query);

  await rotateConnectionKeys(depsOf(after), new AbortController().signal);

  const rotated = await rowsIn(after);
  const plain = (all: typeof rows) => all.map(({ dataKey: _, keyId: __, ...rest }) => rest);
  expect(plain(rotated)).toEqual(plain(rows));
  expect(rotated.map(({ keyId }) => keyId)).toEqual([after.keyRing.vault.current?.id, null]);
  expect(await begun()).toBe(200);
  const alone = await withKeys(databaseUrl, current);
  expect(await signOn(alone, provider, query)).toMatchObject({ sub: 'ada' });
  expect(await entriesOf(acme, 'sso.connection_key.rotated')).toMatchObject([{ metadata: { connectionId } }]);
});

/** A login that is under way. */
async function startOf(
  service: Service,
  provider: Awaited<ReturnType<typeof startAccountsServer>>,
  query: Record<string, string>,
) {
  const { authorizeUrl } = (
    await service.app.inject({ url: `/sso/login?${new URLSearchParams(query)}` })
  ).json();
  const back = await provider.visit(authorizeUrl);
  return async () =>
    (
      await service.app.inject({
        method: 'POST',
        url: '/sso/callback/oidc',
        body: Object.fromEntries(back.searchParams),
      })
    ).statusCode;
}

test('V6: a key that is missing stops the start in production, and elsewhere logs a warning', async () => {
  const databaseUrl = await newDatabase();
  const provider = await startAccountsServer();
  const before = await withKeys(databaseUrl, newKey());
  await addOidc(await before.asDeveloper(), provider);
  const lost = await withKeys(databaseUrl, newKey());
  const warnings: string[] = [];

  await before.prepare(true); // the control
  await expect(lost.prepare(true)).rejects.toThrow(
    'VAULT_ENCRYPTION_KEY does not open values sealed in this database',
  );
  await lost.prepare(false, depsOf(lost, warnings).warn);
  expect(warnings).toEqual([expect.stringContaining(String(before.keyRing.vault.current?.id))]);
});
