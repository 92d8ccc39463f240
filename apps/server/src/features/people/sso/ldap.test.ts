import { once } from 'node:events';
import { createServer } from 'node:net';
import { rootCertificates, setDefaultCACertificates } from 'node:tls';
import { afterEach, beforeAll, expect, onTestFinished, test } from 'vitest';
import { entriesOf, refusalOf } from '../../../../test/app/flow.ts';
import certificate from '../../../../test/app/localhost-certificate.json' with { type: 'json' };
import { besideProvider } from '../../../../test/app/signing-on.ts';
import { startApp } from '../../../../test/app/start-app.ts';
import { directory, findSlapd, startSlapd } from '../../../../test/servers/slapd.ts';
import { escapeDn, filterWith } from './ldap.rules.ts';

beforeAll(findSlapd, 300_000);

async function startDirectory(members: object = {}) {
  const server = await startSlapd();
  const service = await startApp(besideProvider());
  const acme = await service.asDeveloper();
  const added = await acme('POST', '/v1/sso/connections', {
    name: 'Directory',
    protocol: 'ldap',
    ldapUrl: server.url,
    ldapBindDn: directory.bindDn,
    ldapBindPassword: directory.bindPassword,
    ldapSearchBase: directory.people,
    ldapGroupSearchBase: directory.groups,
    groupMappings: { editors: ['files:write'] },
    ...members,
  });
  const { id: connectionId } = added.json();
  const org = acme.developerId;
  const signIn = (username: string, password: string, remoteAddress = '127.0.0.1') =>
    service.app.inject({
      remoteAddress,
      method: 'POST',
      url: '/sso/callback/ldap',
      body: { username, password, connectionId, org },
    });
  const reasons = async () =>
    (await entriesOf(acme, 'sso.login_failed')).map(({ metadata }) => Object(metadata).reason);
  return { server, service, acme, added, connectionId, org, signIn, reasons };
}

test('a person signs in with the password of a directory', async () => {
  const { service, added, acme, connectionId, org, signIn } = await startDirectory();
  const answer = await signIn('ada', 'password of ada');
  expect(answer.json()).toMatchObject({
    email: 'ada@acme.test',
    name: 'Ada Lovelace',
    sub: expect.stringMatching(/^[0-9a-f-]{36}$/),
    groups: ['editors'],
    mappedScopes: ['files:write'],
  });
  expect(added.body).not.toContain(directory.bindPassword);
  const begun = await service.app.inject(`/sso/login?org=${org}`);
  expect(begun.json()).toMatchObject({ authorizeUrl: '', protocol: 'ldap', connectionId });
  const path = `/v1/sso/connections/${connectionId}`;
  expect((await acme('POST', `${path}/test`, {})).json()).toMatchObject({
    success: true,
    bind: true,
    searchBase: directory.people,
  });
  await acme('PATCH', path, { ldapBindPassword: 'wrong' });
  expect((await acme('POST', `${path}/test`, {})).json()).toMatchObject({ success: false, error: 'bind' });
  await acme('PATCH', path, {
    ldapBindPassword: directory.bindPassword,
    ldapSearchBase: 'ou=nowhere,dc=acme,dc=test',
  });
  expect((await acme('POST', `${path}/test`, {})).json()).toMatchObject({
    success: false,
    error: 'search_base',
  });
});

test('M9: wrong names and passwords get one answer, and no characters of a filter', async () => {
  const { signIn, reasons, service } = await startDirectory();
  const attempts: [username: string, password: string, reason: string][] = [
    ['ada', '', 'empty_password'],
    ['ada', 'password of grace', 'password'],
    ['nobody', 'x', 'unknown_user'],
    ['*', 'password of ada', 'unknown_user'],
    ['ada)(uid=*', 'password of ada', 'unknown_user'],
    ['ad\\61', 'password of ada', 'unknown_user'],
  ];
  const bodies = new Set<string>();
  for (const [username, password] of attempts) {
    const { requestId: _, ...said } = (await signIn(username, password)).json();
    bodies.add(JSON.stringify(said));
    service.advance(60); // the log has the first refusal of each minute
  }
  expect([...bodies]).toEqual([expect.stringContaining('SSO_AUTH_FAILED')]);
  expect((await reasons()).toSorted()).toEqual(attempts.map(([, , reason]) => reason).toSorted());
  expect((await signIn('ada', 'password of ada')).statusCode).toBe(200); // the control
});

test('31 L8: other spellings that a directory takes for the same name share one count of wrong passwords', async () => {
  const { signIn } = await startDirectory();
  for (const name of ['ada', ' ada', 'ada  ', '\uFF41da', 'ad\u00ADa']) await signIn(name, 'wrong');
  expect(refusalOf(await signIn('ADA ', 'wrong'))).toBe('429 RATE_LIMITED');
});

/** Takes the certificate of the test's directory for that of a known authority, or no longer. */
function trust(isTrusted: boolean): void {
  setDefaultCACertificates([...rootCertificates, ...(isTrusted ? [certificate.cert] : [])]);
}
afterEach(() => trust(false));

test('M9: TLS, from the beginning or begun on a plain connection, demands a good certificate', async () => {
  const { server, acme, connectionId, signIn } = await startDirectory();
  const path = `/v1/sso/connections/${connectionId}`;
  const ways = [
    { ldapUrl: server.secureUrl },
    { ldapUrl: server.url, ldapTlsEnabled: true },
    // The certificate is for another name.
    { ldapUrl: server.secureUrl.replace('localhost', '127.0.0.1'), ldapTlsEnabled: false },
  ];
  const outcomes: unknown[] = [];
  for (const isTrusted of [true, false]) {
    trust(isTrusted);
    for (const way of ways) {
      await acme('PATCH', path, { ...way, ldapBindPassword: directory.bindPassword });
      const { success, error } = (await acme('POST', `${path}/test`, {})).json();
      const answer = await signIn('ada', 'password of ada');
      outcomes.push([success ? 'good' : error, refusalOf(answer)]);
    }
  }
  const refused = ['tls_failed', '502 SSO_ERROR tls_failed'];
  expect(outcomes).toEqual([['good', '200'], ['good', '200'], refused, refused, refused, refused]);
});

test('an entry that is not the only one signs nobody in', async () => {
  const { signIn, reasons } = await startDirectory({
    ldapSearchFilter: '(|(uid={{username}})(sn=ada)(sn=grace))',
  });
  expect(refusalOf(await signIn('ada', 'password of ada'))).toBe('401 SSO_AUTH_FAILED');
  expect(await reasons()).toEqual(['ambiguous_entry']);
});

test('five wrong passwords of a person close the way, and a right one opens it', async () => {
  const { signIn } = await startDirectory();
  for (let attempt = 0; attempt < 4; attempt += 1) await signIn('ada', 'wrong');
  expect((await signIn('ADA', 'password of ada')).statusCode).toBe(200);
  expect(refusalOf(await signIn('ada', 'wrong'))).toBe('401 SSO_AUTH_FAILED');
  expect(refusalOf(await signIn('Ada', 'password of ada'))).toBe('429 RATE_LIMITED');
  expect((await signIn('grace', 'password of grace')).statusCode).toBe(200);
});

test('31 L8: wrong passwords of an outsider keep the person out nowhere else', async () => {
  const { signIn } = await startDirectory();
  const ada = async (address: string) => refusalOf(await signIn('ada', 'password of ada', address));
  expect(await ada('192.0.2.1')).toBe('200'); // her office
  for (let attempt = 0; attempt < 5; attempt += 1) await signIn('ada', 'wrong', '203.0.113.9');

  expect(await ada('203.0.113.9')).toBe('429 RATE_LIMITED');
  expect(await ada('192.0.2.1')).toBe('200');
  expect(await ada('198.51.100.7')).toBe('200'); // where she has never been

  for (let from = 1; from <= 15; from += 1) await signIn('ada', 'wrong', `203.0.113.${100 + from}`);
  expect(await ada('198.51.100.8')).toBe('429 RATE_LIMITED'); // many addresses do not guess without end
  expect(await ada('192.0.2.1')).toBe('200');
});

test('M9: a directory without TLS is refused, and so is a filter that a name could close', async () => {
  const service = await startApp();
  const acme = await service.asDeveloper();
  const members = {
    name: 'Directory',
    protocol: 'ldap',
    ldapUrl: 'ldaps://ldap.acme.com',
    ldapBindDn: 'cn=a',
    ldapBindPassword: 'secret',
    ldapSearchBase: 'dc=a',
  };
  const add = async (more: object) =>
    (await acme('POST', '/v1/sso/connections', { ...members, ...more })).statusCode;
  expect(await add({})).toBe(201);
  expect(await add({ ldapUrl: 'ldap://ldap.acme.com' })).toBe(400);
  expect(await add({ ldapUrl: 'ldap://ldap.acme.com', ldapTlsEnabled: true })).toBe(201);
  expect(await add({ ldapUrl: 'ldaps://127.0.0.1' })).toBe(400);
  expect(await add({ ldapUrl: 'ldaps://a:b@ldap.acme.com' })).toBe(400);
  expect(await add({ ldapSearchFilter: '(uid=x)' })).toBe(400);
  expect(await add({ ldapSearchFilter: '(uid={{username}}' })).toBe(400);
  expect(await add({ ldapBindPassword: undefined })).toBe(400);
});

test('M9: values are escaped in filters and names', () => {
  expect(filterWith('(uid={{username}})', { username: '*)(\\\0$&' })).toBe('(uid=\\2a\\29\\28\\5c\\00$&)');
  expect(escapeDn(' a,b=c"#\0 ')).toBe('\\ a\\,b\\=c\\"#\\00\\ ');
});

test('M9: a referral is not followed, and nobody is asked in its place', async () => {
  const { server, signIn, reasons } = await startDirectory();
  const calls: unknown[] = [];
  const stranger = createServer((socket) => calls.push(socket.destroy()));
  stranger.listen(0, '127.0.0.1');
  await once(stranger, 'listening');
  onTestFinished(() => void stranger.close());
  const { port } = Object(stranger.address());
  await server.add(`cn=elsewhere,${directory.people}`, {
    objectClass: ['referral', 'extensibleObject'],
    cn: 'elsewhere',
    ref: `ldap://127.0.0.1:${port}/${directory.people}`,
  });

  expect((await signIn('ada', 'password of ada')).statusCode).toBe(200); // the control
  expect(refusalOf(await signIn('elsewhere', 'any'))).toBe('401 SSO_AUTH_FAILED');
  expect(await reasons()).toEqual(['unknown_user']);
  expect(calls).toEqual([]);
});

test('M8, M9: the page for a password belongs to one browser and one login, and tells nobody which part was wrong', async () => {
  const { service, acme, connectionId, org } = await startDirectory();
  const begin = async () => {
    const query = new URLSearchParams({ org, mode: 'redirect', return_to: '/consent?req=1' });
    const sent = await service.app.inject(`/sso/login?${query}`);
    const [cookie] = sent.cookies;
    const page = new URL(String(sent.headers.location));
    return {
      cookie: `${cookie?.name}=${cookie?.value}`,
      path: page.pathname + page.search,
      state: stateIn(page),
    };
  };
  const stateIn = ({ searchParams }: URL) => String(searchParams.get('state'));
  const post = (form: Record<string, string>, cookie: string) =>
    service.app.inject({
      method: 'POST',
      url: '/sso/ldap',
      headers: { cookie, 'content-type': 'application/x-www-form-urlencoded' },
      payload: String(new URLSearchParams(form)),
    });
  const ada = { username: 'ada', password: 'password of ada' };
  const { cookie, path, state } = await begin();

  expect(refusalOf(await service.app.inject(path))).toBe('400 BAD_REQUEST'); // another browser
  expect(refusalOf(await post({ ...ada, state }, 'other=1'))).toBe('400 BAD_REQUEST');
  const own = { cookie, path, state }; // the other browser has used nothing up
  const page = await service.app.inject({ url: own.path, headers: { cookie: own.cookie } });
  expect(page.headers['content-security-policy']).toContain("form-action 'self';");
  expect(page.headers['cache-control']).toBe('no-store');
  expect(page.body).toContain(`value="${own.state}"`);

  const answers = [
    await post({ ...ada, password: 'wrong', state: own.state }, own.cookie),
    await post({ ...ada, state: own.state }, own.cookie),
  ];
  expect(answers.map(({ statusCode }) => statusCode)).toEqual([303, 400]);
  const again = new URL(String(answers[0]?.headers.location), 'https://auth.test');
  const stranger = await post({ username: 'nobody', password: 'x', state: stateIn(again) }, own.cookie);
  expect(stranger.statusCode).toBe(303);
  const last = new URL(String(stranger.headers.location), 'https://auth.test');
  const fault = await service.app.inject({
    url: last.pathname + last.search,
    headers: { cookie: own.cookie },
  });
  expect(fault.body).toContain('do not belong together');
  const signedIn = await post({ ...ada, state: stateIn(last) }, own.cookie);
  expect([signedIn.statusCode, signedIn.headers.location]).toEqual([302, '/consent?req=1']);
  expect(signedIn.cookies.map(({ name, value }) => [name.replace(/\..*/, ''), value !== ''])).toEqual([
    ['__Host-bh_sso_session', true],
    ['__Host-bh_sso', false],
  ]);

  const late = await begin();
  await acme('PATCH', `/v1/sso/connections/${connectionId}`, { ldapSearchFilter: '(cn={{username}})' });
  expect(refusalOf(await post({ ...ada, state: late.state }, late.cookie))).toBe('400 BAD_REQUEST');
});
