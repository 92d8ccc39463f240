import { expect, test } from 'vitest';
import {
  good,
  ownDomain,
  startAsserting,
  startAssertingProvider,
  told,
  trustAt,
  trustingDeveloper,
} from '../../../../test/app/asserting.ts';
import { entriesOf, grantTo, partsOf } from '../../../../test/app/flow.ts';
import { signOn } from '../../../../test/app/signing-on.ts';
import type { Developer, Service } from '../../../../test/app/start-app.ts';
import { storeCredential } from '../../../../test/app/vault.ts';

const UNKNOWN = 'invalid_grant unknown_user';

/** Counts of what an assertion may have left. */
async function peopleOf({ db }: Service, { developerId }: Developer) {
  const count = async (table: 'scimUsers' | 'ssoIdentities') =>
    (await db.selectFrom(table).select('developerId').where('developerId', '=', developerId).execute())
      .length;
  return { users: await count('scimUsers'), identities: await count('ssoIdentities') };
}

test('M15: a provider that adds people names nobody by an address that it does not speak for', async () => {
  const { service, provider } = await startAsserting();
  const own = await trustingDeveloper(service, provider);
  await ownDomain(service, own.acme, 'verified.test'); // the developer's, and on no list of the connection

  for (const email of ['ceo@c1.test', 'ceo@verified.test', 'ceo@upstream.test.c1.test']) {
    expect([email, await own.outcome({ claims: { sub: 'ceo', email } })]).toEqual([email, UNKNOWN]);
  }
  expect(await peopleOf(service, own.acme)).toEqual({ users: 0, identities: 0 });

  const subject = async (sub: string) =>
    partsOf((await own.token({ sub, email: undefined })).access_token).payload.sub;
  for (const sub of [
    ...['00u1', 'bea@upstream.test', 'ceo@c1.test', 'ceo@verified.test', 'CEO@C2.TEST'],
    ...['ceo@upstream.test@c1.test', '@c1.test'],
  ]) {
    expect(await subject(sub)).toBe(`${own.connection.id}|${sub}`);
  }
  expect(await own.outcome()).toBe('200');
  expect(await peopleOf(service, own.acme)).toEqual({ users: 8, identities: 8 });
});

test.each([false, 'false', 0])(
  '31 H4: an address that the assertion calls unverified (%s) names nobody',
  async (verified) => {
    const { service, provider } = await startAsserting();
    const own = await trustingDeveloper(service, provider);
    const claims = { email_verified: verified };

    expect(await own.outcome({ claims })).toBe(UNKNOWN);
    expect(await peopleOf(service, own.acme)).toEqual({ users: 0, identities: 0 });
    expect(await own.outcome({ claims: { email_verified: true } })).toBe('200'); // the control
    expect(await own.outcome({ claims: { ...claims, sub: 'mallory' } })).toBe(UNKNOWN);
    expect(await peopleOf(service, own.acme)).toEqual({ users: 1, identities: 1 });
  },
);

test('31 M1: a second subject with the address of a linked person is nobody, and the audit log says which', async () => {
  const { service, provider } = await startAsserting();
  const own = await trustingDeveloper(service, provider);
  await own.token();
  const second = { sub: 'successor' };

  expect(await own.outcome({ claims: second })).toBe(UNKNOWN);
  expect(await own.outcome({ claims: { ...second, aud_sub: 'ada@upstream.test', email: undefined } })).toBe(
    UNKNOWN,
  );
  const subject = `${provider.issuer}|successor`;
  expect(await entriesOf(own.acme, 'idjag.refused')).toMatchObject([
    { metadata: { reason: 'other_subject', subject } },
    { metadata: { reason: 'other_subject', subject } },
  ]);

  await good(own.acme, 'PUT', `${own.path}/identities`, { principalId: 'ada@upstream.test', subject });
  expect(await own.outcome({ claims: second })).toBe('200');
  expect(await own.outcome()).toBe(UNKNOWN);
});

test('M15: the person of an address is theirs, whatever another customer has signed before', async () => {
  const { service, provider } = await startAsserting();
  const own = await trustingDeveloper(service, provider);
  const other = await startAssertingProvider(service);
  const second = await trustAt(own.acme, service, other, {
    connection: { domains: ['c2.test'], name: 'Other' },
    base: service.url,
  });
  const show = async (claims: object) => {
    const { clientId, clientSecret = '' } = second.client;
    const assertion = await other.assert(service.url, clientId, { claims });
    const form = { client_id: clientId, client_secret: clientSecret };
    return told(await own.show(assertion, form));
  };

  expect(await show({ sub: 'ada', email: 'ada@upstream.test' })).toBe(UNKNOWN);
  expect(await show({ sub: 'ada@upstream.test', email: undefined })).toBe('200'); // in the space of the other connection
  const { access_token: token } = await own.token();
  expect(partsOf(token).payload.sub).toBe('ada@upstream.test');
  expect(await show({ sub: 'eve', email: 'eve@c2.test' })).toBe('200');
});

test('31 H5: a provider that adds people takes no principal of the application, known here or not', async () => {
  const { service, provider } = await startAsserting();
  const own = await trustingDeveloper(service, provider);
  const { acme } = own;
  await grantTo(acme, { principalId: 'user_42' });
  await storeCredential(acme, { principalId: 'User_43' });
  const { token } = await good(acme, 'POST', '/v1/scim/tokens', { label: 'test' });
  await service.app.inject({
    method: 'POST',
    url: '/scim/v2/Users',
    headers: { authorization: `Bearer ${token}` },
    body: { userName: 'somebody', externalId: 'employee-7' },
  });
  for (const sub of ['user_42', 'user_43', 'employee-7', 'somebody', 'user_44', 'user_44']) {
    const { access_token: text } = await own.token({ sub, email: undefined });
    expect(partsOf(text).payload.sub).toBe(`${own.connection.id}|${sub}`);
  }
  expect(await peopleOf(service, own.acme)).toEqual({ users: 6, identities: 5 });
});

test('M15: a subject of one customer is not that of another at the same issuer', async () => {
  const { service, provider } = await startAsserting();
  const own = await trustingDeveloper(service, provider, { trust: { tenant: 'first' } });
  const at = (tenant: string | undefined, claims: object = {}) =>
    own.outcome({ claims: { tenant, ...claims } });
  const opaque = { sub: 'u1', email: undefined };
  const { 'urn:service:grant': grant } = await own.token({ tenant: 'first', ...opaque });
  const statusOf = async () => {
    const { status, revokedReason } = (await own.acme('GET', `/v1/grants/${grant.grant_id}`)).json();
    return [status, revokedReason];
  };
  await good(own.acme, 'PUT', `${own.path}/id-jag`, {
    enabled: true,
    tenant: 'first',
    maxAssertionSeconds: 600,
  });
  expect(await statusOf()).toEqual(['active', undefined]);

  await good(own.acme, 'PUT', `${own.path}/id-jag`, { enabled: true, tenant: 'second' });

  expect(await statusOf()).toEqual(['revoked', 'idp_rule']);
  expect(await at('second', opaque)).toBe(UNKNOWN);
  expect(await at('second', { sub: 'u2', aud_sub: 'u1', email: undefined })).toBe(UNKNOWN);
  expect(await at('first', opaque)).toBe('invalid_grant tenant');
  expect(await at('second', { sub: 'u2', email: undefined })).toBe('200');
  await good(own.acme, 'PUT', `${own.path}/id-jag`, { enabled: true, tenant: 'first' });
  expect(await at('first', opaque)).toBe('200');
});

test('a person who has signed in before is the same by an assertion, with and without a customer', async () => {
  const { service, provider } = await startAsserting();
  const own = await trustingDeveloper(service, provider, { trust: { tenant: 'first' } });
  const org = own.acme.developerId;
  const { instead } = provider.behaviour;
  provider.behaviour.instead = () => false; // a login is signed with the provider's other keys
  const { principalId } = await signOn(service, provider, { org, connection: own.connection.id });
  Object.assign(provider.behaviour, { instead });
  service.advance(61); // the keys of a provider are read once a minute at most

  const { access_token: token } = await own.token({ tenant: 'first', email: undefined });

  expect(partsOf(token).payload.sub).toBe(principalId);
});

test('an issuer of many customers needs the name of the customer', async () => {
  const { service } = await startAsserting();
  const acme = await service.asDeveloper({ mode: 'sandbox' });
  await ownDomain(service, acme, 'shared.test');
  const connection = await good(acme, 'POST', '/v1/sso/connections', {
    ...{ name: 'Shared', protocol: 'oidc', issuerUrl: 'https://accounts.google.com' },
    ...{ clientId: 'c', clientSecret: 'secret-of-the-client', redirectUris: ['https://app.test/sso'] },
    domains: ['shared.test'],
  });
  const put = (body: object) =>
    acme('PUT', `/v1/sso/connections/${connection.id}/id-jag`, {
      ...{ enabled: true, acknowledge: 'no personal consent', ...body },
    });

  const refused = await put({});
  expect([refused.statusCode, refused.json().code, refused.json().details]).toEqual([
    409,
    'CONFLICT',
    { field: 'tenant' },
  ]);
  expect((await put({ tenant: 'acme.test' })).statusCode).toBe(200);
});

test('where users are provisioned, the external id names them, and an inactive user stays inactive', async () => {
  const { service, provider } = await startAsserting();
  const members = { scimManaged: true, jitProvisioning: false };
  const own = await trustingDeveloper(service, provider, { connection: members });
  const { token } = await good(own.acme, 'POST', '/v1/scim/tokens', { label: 'test' });
  const scim = (body: object) =>
    service.app.inject({
      method: 'POST',
      url: '/scim/v2/Users',
      headers: { authorization: `Bearer ${token}` },
      body,
    });
  await scim({ userName: 'somebody', externalId: 'ada' });
  await scim({ userName: 'left', externalId: 'lea', active: false });
  const email = undefined;

  const { access_token: text } = await own.token({ email });
  expect(partsOf(text).payload.sub).toBe('ada');
  expect(await own.outcome({ claims: { sub: 'lea', email } })).toBe('access_denied inactive');
  expect(await own.outcome({ claims: { sub: 'bob', email } })).toBe(UNKNOWN);
});

test('M15: where the assertion names no groups, those of the directory narrow the token', async () => {
  const { service, provider } = await startAsserting();
  const own = await trustingDeveloper(service, provider, {
    connection: {
      groupAttribute: 'groups',
      groupMappings: { staff: ['calendar:read'], desk: ['calendar:write'] },
    },
  });
  const { token } = await good(own.acme, 'POST', '/v1/scim/tokens', { label: 'test' });
  const scim = async (path: string, body: object) => {
    const headers = { authorization: `Bearer ${token}` };
    return (await service.app.inject({ method: 'POST', url: `/scim/v2/${path}`, headers, body })).json();
  };
  const { id } = await scim('Users', { userName: 'ada@upstream.test' });
  await scim('Groups', { displayName: 'staff', members: [{ value: id }] });
  const scopesOf = async (claims: object) =>
    (await own.token({ scope: 'calendar:read calendar:write', ...claims })).scope;

  expect(await scopesOf({})).toBe('calendar:read');
  expect(await scopesOf({ groups: ['desk'] })).toBe('calendar:write');
  expect(await own.outcome({ claims: { groups: [] } })).toBe('invalid_scope scope');
});
