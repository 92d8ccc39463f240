import * as openid from 'openid-client';
import { expect, test } from 'vitest';
import { good, JWT_BEARER, startAsserting, told, trustingDeveloper } from '../../../../test/app/asserting.ts';
import { entriesOf } from '../../../../test/app/flow.ts';
import { discover, newClient, newResource, post, toPresent } from '../../../../test/app/oauth.ts';

test('M15: a policy that asks for an approval denies, because nobody is asked', async () => {
  const { service, provider } = await startAsserting();
  const { acme, outcome } = await trustingDeveloper(service, provider);
  const policy = { name: 'Ask', effect: 'require_approval', scopes: ['calendar:*'] };
  const { id } = await good(acme, 'POST', '/v1/policies', policy);

  expect(await outcome()).toBe('access_denied policy');
  expect((await acme('GET', '/v1/grants')).json().grants).toEqual([]);
  await acme('DELETE', `/v1/policies/${id}`);
  expect(await outcome()).toBe('200');
});

test('M15: the scopes of the agent bound a token, where the developer enforces them', async () => {
  const { service, provider } = await startAsserting();
  const own = await trustingDeveloper(service, provider);
  await good(own.acme, 'PATCH', `/v1/agents/${own.client.clientId}`, { scopes: ['calendar:read'] });
  const claims = { scope: 'calendar:read calendar:write' };

  expect((await own.token(claims)).scope).toBe(claims.scope);
  await good(own.acme, 'PATCH', '/v1/me', { enforceAgentScopes: true });
  expect((await own.token(claims)).scope).toBe('calendar:read');
  expect(await own.outcome({ claims: { scope: 'calendar:write' } })).toBe('invalid_scope scope');
});

test('M15: a client without a secret gets tokens by its rule and the proof of its key, and not by one of them', async () => {
  const { service, provider } = await startAsserting();
  const own = await trustingDeveloper(service, provider, { client: { authMethod: 'none' } });
  toPresent(service);
  const config = await discover(service.url, own.client.clientId);
  const keys = await openid.randomDPoPKeyPair();
  const prove = async () => {
    const form = { assertion: await own.assertion() };
    return openid.genericGrantRequest(config, JWT_BEARER, form, { DPoP: openid.getDPoPHandle(config, keys) });
  };

  await expect(prove()).rejects.toMatchObject({ error: 'unauthorized_client' });
  await good(own.acme, 'PATCH', own.rulePath, { allowPublic: true });
  expect(await own.outcome()).toBe('invalid_grant possession');
  expect((await prove()).token_type).toBe('dpop');
});

test('a grant beyond the plan is not made, and the one that stands gives tokens', async () => {
  const { service, provider } = await startAsserting({ PLAN_FREE_ACTIVE_GRANTS: '1' });
  const { acme, outcome } = await trustingDeveloper(service, provider);
  const bob = { claims: { sub: 'bob', email: 'bob@upstream.test' } };

  expect(await outcome()).toBe('200');
  expect(await outcome(bob)).toMatch(/^access_denied PLAN_LIMIT_EXCEEDED/);
  expect(await outcome()).toBe('200');
  const [grant] = (await acme('GET', '/v1/grants')).json().grants;
  await acme('DELETE', `/v1/grants/${grant.grantId}`);
  expect(await outcome(bob)).toBe('200');
});

test('a resource may give shorter tokens than the rule', async () => {
  const { service, provider } = await startAsserting();
  const own = await trustingDeveloper(service, provider, { rule: { tokenTtlSeconds: 600 } });
  const [shorter, longer] = ['http://localhost/shorter', 'http://localhost/longer'];
  for (const [resource, tokenTtlSeconds] of [
    [shorter, 120],
    [longer, 1200],
  ] as const) {
    const { id } = await newResource(own.acme, resource);
    await good(own.acme, 'PATCH', `/v1/resources/${id}`, { tokenTtlSeconds });
  }

  expect((await own.token({ resource: shorter })).expires_in).toBe(120);
  expect((await own.token({ resource: longer })).expires_in).toBe(600);
  expect((await own.token({ resource: [longer, shorter] })).expires_in).toBe(120);
});

test('the entry of a token has the actors of the assertion, up to 2 KiB of them', async () => {
  const { service, provider } = await startAsserting();
  const own = await trustingDeveloper(service, provider);
  const recorded = async (act: object) => {
    const jti = crypto.randomUUID();
    await own.token({ act, jti });
    const issued = await entriesOf(own.acme, 'token.issued');
    return issued.map(({ metadata }) => Object(metadata).assertion).find((each) => each.jti === jti).act;
  };
  const ofLength = (bytes: number) => ({ sub: 'x'.repeat(bytes - '{"sub":""}'.length) });

  expect(await recorded({ sub: 'assistant' })).toEqual({ sub: 'assistant' });
  expect(await recorded(ofLength(2048))).toEqual(ofLength(2048));
  expect(await recorded(ofLength(2049))).toBeUndefined();
});

test('refusals of a minute have one entry, and the next tells how many there were', async () => {
  const { service, provider } = await startAsserting();
  const { acme, outcome } = await trustingDeveloper(service, provider);
  const refused = () => outcome({ claims: { sub: '' } });
  const counts = async () =>
    (await entriesOf(acme, 'idjag.refused')).map(({ metadata }) => Object(metadata).previousMinute).sort();

  for (let tries = 0; tries < 3; tries += 1) await refused();
  expect(await counts()).toEqual([0]);
  service.advance(60);
  await refused();

  expect(await counts()).toEqual([0, 3]);
});

test.each([
  ['developer', 'access_denied stopped'],
  ['principal', 'access_denied stopped'],
  ['anomaly', 'access_denied stopped'],
  ['policy', 'access_denied stopped'],
  ['admin', 'access_denied stopped'],
  ['idp_rule', '200'],
  ['idp_signal', '200'],
  ['superseded', '200'],
] as const)('M16: after an end by `%s` the next assertion gets: %s', async (reason, expected) => {
  const { service, provider } = await startAsserting();
  const { acme, outcome, token } = await trustingDeveloper(service, provider);
  const { 'urn:service:grant': grant } = await token();
  await acme('DELETE', `/v1/grants/${grant.grant_id}`);

  await service.db
    .updateTable('grants')
    .set({ revokedReason: reason })
    .where('developerId', '=', acme.developerId)
    .where('id', '=', grant.grant_id)
    .execute();

  expect(await outcome()).toBe(expected);
});

test('M15: nothing is refreshed, and what another client gets in exchange ends with the token', async () => {
  const { service, provider } = await startAsserting();
  const own = await trustingDeveloper(service, provider, { rule: { tokenTtlSeconds: 600 } });
  const { access_token: token } = await own.token({ scope: 'calendar:read' });
  const send = (form: Record<string, string>) => post(`${service.url}/oauth/token`, form);
  const { clientId, clientSecret = '' } = own.client;
  const other = await newClient(own.acme, { authMethod: 'none' });
  const exchange = (scope: string) =>
    send({
      ...{ grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange', client_id: other.clientId, scope },
      ...{ subject_token: token, subject_token_type: 'urn:ietf:params:oauth:token-type:access_token' },
    });
  const refresh = { grant_type: 'refresh_token', refresh_token: token };

  expect(await told(await send({ ...refresh, client_id: clientId, client_secret: clientSecret }))).toMatch(
    /^invalid_grant/,
  );
  expect(await told(await exchange('calendar:write'))).toMatch(/^invalid_scope/);
  service.advance(100);
  const child = Object(await (await exchange('calendar:read')).json());
  expect(child).toMatchObject({ scope: 'calendar:read', expires_in: 500 });
  expect(child).not.toHaveProperty('refresh_token');
  const isValid = async () =>
    (await own.acme('POST', '/v1/tokens/verify', { token: child.access_token })).json().valid;
  expect(await isValid()).toBe(true);
  service.advance(500);
  expect(await isValid()).toBe(false);
});
