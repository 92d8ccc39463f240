import { describe, expect, test } from 'vitest';
import { type AccountsServer, startAccountsServer } from '../../../../test/app/accounts-server.ts';
import { grantTo, openSession, refusalOf, registerAgent } from '../../../../test/app/flow.ts';
import { addOidc, besideProvider, bringBack, signOn, startLogin } from '../../../../test/app/signing-on.ts';
import { type Developer, type Service, startApp } from '../../../../test/app/start-app.ts';

/** As after a proof by the DNS, which the tests of domains go through. */
async function ownDomain({ db }: Service, { developerId }: Developer, domain: string, at: Date) {
  const id = `dom_${domain}`;
  const row = {
    developerId,
    id,
    domain,
    token: 't',
    status: 'verified',
    createdAt: at,
    verifiedAt: at,
  } as const;
  await db.insertInto('customDomains').values(row).execute();
  await db.insertInto('verifiedDomains').values({ developerId, domain, domainId: id }).execute();
}

async function startPeople(members: object = {}, isVerified = true, mode: 'live' | 'sandbox' = 'sandbox') {
  const provider = await startAccountsServer();
  const service = await startApp(besideProvider());
  const acme = await service.asDeveloper({ mode });
  const domains = ['upstream.test'];
  const connection = await addOidc(acme, provider, { domains, ...members });
  await service.db.deleteFrom('verifiedDomains').where('domain', '=', 'upstream.test').execute(); // a test before may have left it
  if (isVerified) await ownDomain(service, acme, 'upstream.test', service.clock());
  const { token } = (await acme('POST', '/v1/scim/tokens', { label: 'test' })).json();
  const scim = (method: 'POST' | 'PATCH' | 'GET', path: string, body?: object) =>
    service.app.inject({
      method,
      url: `/scim/v2${path}`,
      headers: { authorization: `Bearer ${token}` },
      ...(body && { body }),
    });
  const org = acme.developerId;
  const begin = async (at: Pick<AccountsServer, 'visit'> = provider) =>
    bringBack(
      service,
      await at.visit((await startLogin(service, { org, connection: connection.id })).json().authorizeUrl),
    );
  return { provider, service, acme, connection, org, scim, begin };
}

const ada = { userName: 'Ada@upstream.test', externalId: 'employee-7' };

describe('a login is linked', () => {
  test('M10: to a user whose name is an address in a verified domain of the connection, and to no other', async () => {
    const own = await startPeople();
    await own.scim('POST', '/Users', ada);
    expect((await own.begin()).json()).toMatchObject({
      principalId: 'employee-7',
      email: 'ada@upstream.test',
    });

    const unverified = await startPeople({}, false);
    await unverified.scim('POST', '/Users', ada);
    expect((await unverified.begin()).json()).toMatchObject({ principalId: null });

    const unlisted = await startPeople({ domains: [] });
    await unlisted.scim('POST', '/Users', ada);
    expect((await unlisted.begin()).json()).toMatchObject({ principalId: null });
  });

  test('to a user whose external id is the subject, where users are provisioned', async () => {
    const { scim, begin } = await startPeople({ scimManaged: true }, false);
    expect(refusalOf(await begin())).toBe('403 SSO_NOT_PROVISIONED');
    await scim('POST', '/Users', { userName: 'somebody', externalId: 'ada' });
    expect((await begin()).json()).toMatchObject({ principalId: 'ada' });
  });

  test('once: a name that changes later leads to the same user', async () => {
    const { scim, begin } = await startPeople();
    const { id } = (await scim('POST', '/Users', ada)).json();
    await begin();
    await scim('PATCH', `/Users/${id}`, {
      Operations: [{ op: 'replace', value: { userName: 'other@else.test' } }],
    });
    expect((await begin()).json()).toMatchObject({ principalId: 'employee-7' });
  });

  test('by making the user, where the connection says so; another user of that name is not taken over', async () => {
    const made = await startPeople({ jitProvisioning: true });
    expect((await made.begin()).json()).toMatchObject({ principalId: 'ada@upstream.test' });
    const { Resources } = (await made.scim('GET', '/Users')).json();
    expect(Resources).toMatchObject([{ userName: 'ada@upstream.test', active: true }]);

    const taken = await startPeople({ jitProvisioning: true });
    await taken.scim('POST', '/Users', { userName: 'somebody', externalId: 'ada@upstream.test' });
    expect(refusalOf(await taken.begin())).toBe('409 SSO_ACCOUNT_CONFLICT');
  });

  test('31 H5: to a new user in the connection’s own space, where the provider names no address that counts', async () => {
    const unlisted = await startPeople({ jitProvisioning: true, domains: [] });
    const { id } = unlisted.connection;
    expect((await unlisted.begin()).json()).toMatchObject({
      principalId: `${id}|ada`,
      email: 'ada@upstream.test',
    });
    const { Resources } = (await unlisted.scim('GET', '/Users')).json();
    expect(Resources).toMatchObject([{ userName: `${id}|ada` }]);
    expect(Resources[0].emails).toEqual([]);
    unlisted.provider.behaviour.account = 'ceo@c1.test'; // a subject is no address
    expect((await unlisted.begin()).json().principalId).toBe(`${id}|ceo@c1.test`);

    const unverified = await startPeople({ jitProvisioning: true }, false);
    await unverified.scim('POST', '/Users', { userName: 'ada' });
    await grantTo(unverified.acme, { principalId: 'ADA' });
    expect((await unverified.begin()).json().principalId).toBe(`${unverified.connection.id}|ada`);
  });

  test('31 H5: to a user whose id fits, however long the subject is', async () => {
    const { connection, provider, begin, scim } = await startPeople({ jitProvisioning: true, domains: [] });
    const most = 'x'.repeat(256 - connection.id.length - 1);
    provider.behaviour.account = most;
    expect((await begin()).json().principalId).toBe(`${connection.id}|${most}`);

    provider.behaviour.account = `${most}y`;
    const { principalId } = (await begin()).json();
    expect(principalId).toMatch(new RegExp(`^${connection.id}\\|sha256\\.[\\w-]{43}$`));
    expect((await begin()).json().principalId).toBe(principalId);
    expect((await scim('GET', '/Users')).json().totalResults).toBe(2);
  });

  test('to one identity for each connection, also for one subject', async () => {
    const { provider, service, acme, org, begin } = await startPeople({ jitProvisioning: true });
    await begin();
    const other = await addOidc(acme, provider, { name: 'Other', jitProvisioning: true });
    const session = await signOn(service, provider, { org, connection: other.id }).catch(String);
    expect(session).toMatchObject({ principalId: `${other.id}|ada` }); // the address is not trusted here
  });
});

test('a person who leaves has no session, and returns with none', async () => {
  const { acme, scim, begin } = await startPeople();
  const { id } = (await scim('POST', '/Users', ada)).json();
  const setActive = (active: boolean) =>
    scim('PATCH', `/Users/${id}`, { Operations: [{ op: 'replace', path: 'active', value: active }] });
  const count = async () => (await acme('GET', '/v1/sso/sessions')).json().sessions.length;
  await begin();
  expect(await count()).toBe(1);
  await setActive(false);
  expect(await count()).toBe(0);
  expect(refusalOf(await begin())).toBe('403 SSO_USER_INACTIVE');
  await setActive(true);
  expect(await count()).toBe(0);
  expect((await begin()).statusCode).toBe(200);
});

test('M12: enforcement demands a live session of those whom it concerns, and of nobody else', async () => {
  const { service, acme, connection, scim, begin, org } = await startPeople();
  await scim('POST', '/Users', ada);
  await begin();
  for (const principalId of ['employee-7', 'grace@upstream.test', 'user_42']) {
    await grantTo(acme, { principalId });
  }
  const opened = async (principalId: string) => refusalOf(await openSession(acme, principalId));
  expect(await opened('grace@upstream.test')).toBe('201'); // the control
  await acme('POST', '/v1/sso/enforce', { enforce: true });

  expect(await opened('employee-7')).toBe('201');
  expect(await opened('user_42')).toBe('201');
  const refused = await openSession(acme, 'grace@upstream.test');
  expect(refused.json()).toMatchObject({
    code: 'SSO_REQUIRED',
    details: {
      connectionId: connection.id,
      loginUrl: `https://auth.test/sso/login?org=${org}&connection=${connection.id}`,
    },
  });
  service.advance(8 * 3600);
  expect(await opened('employee-7')).toBe('403 SSO_REQUIRED');
  await acme('POST', '/v1/sso/enforce', { enforce: false });
  expect(await opened('employee-7')).toBe('201');
});

test('M12: no policy approves in the place of a person who has to sign in', async () => {
  const { acme, scim, begin } = await startPeople({}, true, 'live');
  await scim('POST', '/Users', ada);
  expect((await begin()).statusCode).toBe(200); // no connection is enforced before it works
  await acme('PATCH', '/v1/me', { policyAutoApproval: true });
  await acme('POST', '/v1/policies', { name: 'All', effect: 'allow', scopes: ['calendar:*'] });
  const { agentId } = await registerAgent(acme);
  const asked = async (principalId: string) => {
    const body = { agentId, principalId, scopes: ['calendar:read'] };
    return (await acme('POST', '/v1/authorize', body)).json().status;
  };

  expect(await asked('grace@upstream.test')).toBe('approved'); // the control
  expect((await acme('POST', '/v1/sso/enforce', { enforce: true })).statusCode).toBe(200);
  expect(await asked('grace@upstream.test')).toBe('pending');
  expect(await asked('user_42')).toBe('approved');
});

test('a verified domain leads to its connection, and no other domain does', async () => {
  const { service, org, connection } = await startPeople();
  const found = (query: string, { app }: Service = service) => app.inject(`/sso/discover?${query}`);
  expect((await found('email=Somebody@Upstream.test')).json()).toMatchObject({
    org,
    connectionId: connection.id,
    protocol: 'oidc',
    enforced: false,
  });
  const other = await startPeople({}, false);
  const unverified = await found('domain=upstream.test', other.service);
  const unknown = await found('domain=nobody.test');
  expect([refusalOf(unverified), refusalOf(unknown)]).toEqual(['404 NOT_FOUND', '404 NOT_FOUND']);
});
