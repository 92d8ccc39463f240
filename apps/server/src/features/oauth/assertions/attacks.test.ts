import { CompactEncrypt, exportJWK, generateKeyPair, SignJWT } from 'jose';
import { expect, test } from 'vitest';
import {
  type Changes,
  good,
  ownDomain,
  startAsserting,
  startAssertingProvider,
  told,
  trustingDeveloper,
} from '../../../../test/app/asserting.ts';
import { entriesOf } from '../../../../test/app/flow.ts';
import { newClient, newResource } from '../../../../test/app/oauth.ts';

test('M15: a JWT of another kind, key or algorithm is no assertion', async () => {
  const { service, provider } = await startAsserting();
  const own = await trustingDeveloper(service, provider);
  const header = async (changes: Changes) => told(await own.show(await own.assertion(changes)));
  for (const typ of [undefined, 'JWT', 'at+jwt']) {
    expect(await header({ header: { typ } })).toBe('invalid_grant typ');
  }
  const jwk = await exportJWK(provider.rsa.publicKey);
  for (const more of [{ jwk }, { jku: `${provider.issuer}/jwks` }, { x5u: provider.issuer }]) {
    expect(await header({ header: more })).toBe('invalid_grant malformed');
  }
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const [, payload = ''] = (await own.assertion()).split('.');
  const typ = 'oauth-id-jag+jwt';
  const unsigned = `${part({ alg: 'none', kid: 'RS256', typ })}.${payload}.`;
  expect(await told(await own.show(unsigned))).toMatch(/^invalid_grant (malformed|signature)$/);
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString());
  const secret = Buffer.from(JSON.stringify(jwk));
  const symmetric = new SignJWT(claims).setProtectedHeader({ alg: 'HS256', kid: 'RS256', typ });
  expect(await told(await own.show(await symmetric.sign(secret)))).toBe('invalid_grant signature');
  expect(await header({ signedBy: 'stranger' })).toBe('invalid_grant signature');
  const critical = { alg: 'RS256', kid: 'RS256', typ, crit: ['b64'], b64: true };
  const withCrit = `${part(critical)}.${payload}.${(await own.assertion()).split('.')[2]}`;
  expect(await told(await own.show(withCrit))).toBe('invalid_grant malformed');
  const encrypted = await new CompactEncrypt(Buffer.from('{}'))
    .setProtectedHeader({ alg: 'RSA-OAEP', enc: 'A256GCM', kid: 'RS256', typ })
    .encrypt((await generateKeyPair('RSA-OAEP')).publicKey);
  expect(await told(await own.show(encrypted))).toBe('invalid_grant malformed');

  const other = await startAssertingProvider(service);
  const foreign = await other.assert(service.url, own.client.clientId, { claims: { iss: provider.issuer } });
  expect(await told(await own.show(foreign))).toBe('invalid_grant signature');
  expect(await header({ alg: 'RS256' })).toBe('200');
  expect(await header({ alg: 'ES256' })).toBe('200');
  expect(await header({ header: { typ: 'application/oauth-id-jag+jwt' } })).toBe('200');
  const refused = await entriesOf(own.acme, 'idjag.refused');
  expect(refused[0]).toMatchObject({ status: 'blocked', metadata: { clientId: own.client.clientId } });
});

test('M15: an assertion is for one audience and one client', async () => {
  const { service, provider } = await startAsserting();
  const own = await trustingDeveloper(service, provider);
  const aud = (value: unknown) => own.outcome({ claims: { aud: value } });

  for (const wrong of [
    `${service.url}/`,
    [service.url, 'https://other.test'],
    `${service.url}/oauth/token`,
  ]) {
    expect(await aud(wrong)).toBe('invalid_grant audience');
  }
  for (const wrong of [provider.issuer, [], undefined])
    expect(await aud(wrong)).toBe('invalid_grant audience');
  expect(await aud([service.url])).toBe('200');
  expect(await aud(service.url)).toBe('200');

  const second = await newClient(own.acme, { authMethod: 'client_secret_post' });
  const rule = { clientId: second.clientId, scopes: ['calendar:read'], defaultScopes: ['calendar:read'] };
  await good(own.acme, 'POST', `${own.path}/clients`, rule);
  const asSecond = { client_id: second.clientId, client_secret: second.clientSecret ?? '' };
  expect(await own.outcome({}, asSecond)).toBe('invalid_grant client');
  expect(await own.outcome({ claims: { client_id: second.clientId } })).toBe('invalid_grant client');
  expect(await own.outcome({ claims: { client_id: second.clientId } }, asSecond)).toBe('200');
});

test('M15: an assertion is used once, also by requests that come together', async () => {
  const { service, provider } = await startAsserting();
  const { show, assertion, token } = await trustingDeveloper(service, provider);
  const one = await assertion();
  const together = await Promise.all(Array.from({ length: 6 }, async () => told(await show(one))));
  expect(together.filter((each) => each === '200')).toHaveLength(1);
  expect(together.filter((each) => !/^(?:200$|invalid_grant )/.test(each))).toEqual([]);
  expect(await told(await show(one))).toBe('invalid_grant replayed');

  const grants = new Set();
  for (const _ of [1, 2]) grants.add((await token())['urn:service:grant'].grant_id);
  expect(grants.size).toBe(1);
});

test('M15: times and lengths are those of the rule, to the second', async () => {
  const { service, provider } = await startAsserting();
  const { outcome } = await trustingDeveloper(service, provider, { trust: { maxAssertionSeconds: 300 } });
  const now = provider.seconds();
  const at = (claims: object) => outcome({ claims });

  expect(await at({ iat: now - 300, exp: now })).toBe('invalid_grant expired');
  expect(await at({ iat: now - 299, exp: now + 1 })).toBe('200');
  expect(await at({ iat: now + 61, exp: now + 300 })).toBe('invalid_grant expired');
  expect(await at({ iat: now + 60, exp: now + 300 })).toBe('200');
  expect(await at({ nbf: now + 61 })).toBe('invalid_grant expired');
  expect(await at({ iat: now, exp: now + 301 })).toBe('invalid_grant lifetime');
  expect(await at({ iat: now + 0.5 })).toBe('invalid_grant expired');
  expect(await at({ exp: undefined })).toBe('invalid_grant expired');
  expect(await at({ jti: undefined })).toBe('invalid_grant replayed');
  expect(await at({ jti: 'x'.repeat(257) })).toBe('invalid_grant replayed');
  expect(await at({ sub: '' })).toBe('invalid_grant subject');
});

test('M15: a provider speaks for its own people, and for nobody else', async () => {
  const { service, provider } = await startAsserting();
  const own = await trustingDeveloper(service, provider, { connection: { jitProvisioning: false } });
  const { acme, connection, outcome } = own;
  const { token } = await good(acme, 'POST', '/v1/scim/tokens', { label: 'test' });
  const provision = (userName: string) =>
    service.app.inject({
      method: 'POST',
      url: '/scim/v2/Users',
      headers: { authorization: `Bearer ${token}` },
      body: { userName },
    });
  for (const name of ['ada', 'bob', 'eve']) await provision(`${name}@upstream.test`);
  await provision('carol@elsewhere.test');
  const linked = async () =>
    Number(
      (
        await service.db
          .selectFrom('ssoIdentities')
          .select(({ fn }) => fn.countAll().as('all'))
          .where('developerId', '=', acme.developerId)
          .executeTakeFirst()
      )?.all,
    );

  expect(await outcome({ claims: { email: 'nobody@upstream.test' } })).toBe('invalid_grant unknown_user');
  expect(await outcome({ claims: { email: 'carol@elsewhere.test' } })).toBe('invalid_grant unknown_user');
  expect(await outcome({ claims: { email: undefined } })).toBe('invalid_grant unknown_user');
  await service.db.deleteFrom('verifiedDomains').where('domain', '=', 'upstream.test').execute();
  expect(await outcome()).toBe('invalid_grant issuer');
  await ownDomain(service, acme, 'upstream.test');
  expect(await linked()).toBe(0);
  expect(await outcome()).toBe('200');
  expect(await linked()).toBe(1);
  expect(await outcome({ claims: { email: undefined } })).toBe('200'); // the subject is known from now on
  expect(await outcome({ claims: { sub: 'mallory' } })).toBe('invalid_grant unknown_user'); // Ada's address
  expect(await outcome({ claims: { aud_sub: 'bob@upstream.test' } })).toBe('invalid_grant unknown_user');
  expect(await outcome({ claims: { aud_sub: 'carol@elsewhere.test', sub: 'c' } })).toBe(
    'invalid_grant unknown_user',
  );
  expect(await linked()).toBe(1);
  expect(await outcome({ claims: { sub: 'bob', aud_sub: 'bob@upstream.test', email: undefined } })).toBe(
    '200',
  );

  expect(await outcome({ claims: { tenant: 'other' } })).toBe('invalid_grant tenant');
  expect(await outcome({ claims: { aud_tenant: 'dev_other' } })).toBe('invalid_grant tenant');
  expect(await outcome({ claims: { aud_tenant: acme.developerId } })).toBe('200');
  await good(acme, 'PUT', `${own.path}/id-jag`, { enabled: true, tenant: 'acme' });
  expect(await outcome()).toBe('invalid_grant tenant');
  expect(await outcome({ claims: { tenant: 'acme' } })).toBe('200');
  await good(acme, 'PUT', `${own.path}/id-jag`, { enabled: true });

  await service.db
    .updateTable('scimUsers')
    .set({ active: false })
    .where('userName', '=', 'ada@upstream.test')
    .execute();
  expect(await outcome()).toBe('access_denied inactive');
  await service.db
    .updateTable('scimUsers')
    .set({ active: true })
    .where('userName', '=', 'ada@upstream.test')
    .execute();
  await good(acme, 'PATCH', `/v1/sso/connections/${connection.id}`, { status: 'testing' });
  expect(await outcome()).toBe('invalid_grant issuer');
  await good(acme, 'PATCH', `/v1/sso/connections/${connection.id}`, { status: 'active' });
  expect(await outcome()).toBe('200');
});

test("one provider that two developers trust speaks for each one's people alone", async () => {
  const { service, provider } = await startAsserting();
  const a = await trustingDeveloper(service, provider, { connection: { jitProvisioning: false } });
  const b = await trustingDeveloper(service, provider); // has the domain from now on
  expect(await a.outcome()).toBe('invalid_grant issuer');
  const { 'urn:service:grant': grant } = await b.token();
  expect((await a.acme('GET', `/v1/grants/${grant.grant_id}`)).statusCode).toBe(404);
  expect((await b.acme('GET', `/v1/grants/${grant.grant_id}`)).statusCode).toBe(200);
  const ofB = await b.assertion();
  expect(await told(await a.show(ofB))).toMatch(/^invalid_grant (issuer|client)$/);
  expect(await told(await b.show(ofB))).toBe('200');
});

test('M15: resources that the developer has not registered or the rule does not allow are refused', async () => {
  const { service, provider } = await startAsserting();
  const own = await trustingDeveloper(service, provider);
  const [mine, other, foreign] = [
    'http://localhost/mine',
    'http://localhost/other',
    'http://localhost/theirs',
  ];
  await newResource(own.acme, mine);
  await newResource(own.acme, other);
  await newResource(await service.asDeveloper({ mode: 'sandbox' }), foreign);

  for (const resource of [foreign, 'http://localhost/unknown', [mine, foreign], 7, []]) {
    expect(await own.outcome({ claims: { resource } })).toBe('invalid_grant resource');
  }
  expect(await own.outcome({}, { resource: foreign })).toBe('invalid_target resource');
  expect(await own.outcome({ claims: { resource: mine } }, { resource: other })).toBe(
    'invalid_target resource',
  );
  const both = await own.token({ resource: [mine, other] });
  expect(both.resource).toEqual([mine, other]);
  expect((await own.token({ resource: [mine, other] }, { resource: mine })).resource).toEqual([mine]);
  await good(own.acme, 'PATCH', own.rulePath, { resources: [mine] });
  expect(await own.outcome({ claims: { resource: other } })).toBe('invalid_grant resource');
  expect(await own.outcome({ claims: { resource: mine } })).toBe('200');
});
