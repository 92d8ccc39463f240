import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { expect, test } from 'vitest';
import {
  good,
  JWT_BEARER,
  ownDomain,
  startAsserting,
  startAssertingProvider,
  told,
  trustingDeveloper,
} from '../../../../test/app/asserting.ts';
import { entriesOf, grantTo, partsOf, refusalOf } from '../../../../test/app/flow.ts';
import certificate from '../../../../test/app/localhost-certificate.json' with { type: 'json' };
import { newClient, post } from '../../../../test/app/oauth.ts';
import { startReceiver } from '../../../../test/app/receiving.ts';
import { addOidc } from '../../../../test/app/signing-on.ts';

test('a client gets a token on the word of the identity provider, and nobody is asked', async () => {
  const { service, provider } = await startAsserting();
  const { acme, client, connection, rule, assertion, show } = await trustingDeveloper(service, provider);

  const answer = await show(await assertion({ claims: { scope: 'calendar:read mail:send' } }));
  const body = Object(await answer.json());

  expect(body).toMatchObject({ token_type: 'Bearer', expires_in: 3600, scope: 'calendar:read' });
  expect(body).not.toHaveProperty('refresh_token');
  expect(answer.headers.get('cache-control')).toBe('no-store');
  const { payload } = partsOf(body.access_token);
  expect(payload).toMatchObject({ sub: 'ada@upstream.test', client_id: client.clientId, aud: service.url });
  const verified = await acme('POST', '/v1/tokens/verify', { token: body.access_token });
  expect(verified.json()).toMatchObject({ valid: true, scopes: ['calendar:read'] });
  const [created] = await entriesOf(acme, 'grant.created');
  expect(created?.metadata).toMatchObject({ consentMethod: 'idp' });
  const [issued] = await entriesOf(acme, 'token.issued');
  expect(issued?.metadata).toMatchObject({
    connectionId: connection.id,
    clientRuleId: rule.id,
    assertion: { iss: provider.issuer },
  });
});

test('a token states the sign-in of its own assertion, and not that of another token of the grant', async () => {
  const { service, provider } = await startAsserting();
  const { acme, token } = await trustingDeveloper(service, provider);
  const at = provider.seconds() - 100;
  const stated = async (claims: object) => {
    const { access_token: text } = await token(claims);
    const { auth_time, amr } = partsOf(text).payload;
    const { valid } = (await acme('POST', '/v1/tokens/verify', { token: text })).json();
    return [auth_time, amr, valid];
  };

  expect(await stated({ auth_time: at, amr: ['pwd', 'mfa'] })).toEqual([at, ['pwd', 'mfa'], true]);
  expect(await stated({ auth_time: at + 50 })).toEqual([at + 50, undefined, true]);
  expect(await stated({ amr: ['pwd'] })).toEqual([undefined, undefined, true]);
  expect((await acme('GET', '/v1/grants')).json().grants).toHaveLength(1);
});

test('the metadata say to everybody that assertions are taken, and to nobody whose', async () => {
  const { service, provider } = await startAsserting();
  const own = await trustingDeveloper(service, provider);
  const other = await startAssertingProvider(service);
  const url = `${service.url}/.well-known/oauth-authorization-server`;
  const read = async (headers = {}) => Object(await (await fetch(url, { headers })).json());

  const metadata = await read();

  expect(metadata.grant_types_supported).toContain(JWT_BEARER);
  expect(metadata.authorization_grant_profiles_supported).toEqual([
    'urn:ietf:params:oauth:grant-profile:id-jag',
  ]);
  expect(await read({ authorization: `Bearer ${own.acme.apiKey}` })).toEqual(metadata);
  const unknown = await other.assert(service.url, own.client.clientId);
  expect(await told(await own.show(unknown))).toBe('invalid_grant issuer');
  await trustingDeveloper(service, other, { connection: { domains: ['other.test'] } });
  expect(await told(await own.show(await other.assert(service.url, own.client.clientId)))).toBe(
    'invalid_grant issuer',
  );
  expect(await own.outcome()).toBe('200');
});

test('where the operator has switched it off, the grant type is unknown', async () => {
  const { service, provider } = await startAsserting({ ID_JAG_ENABLED: 'false' });
  const { show, assertion } = await trustingDeveloper(service, provider);
  const url = `${service.url}/.well-known/oauth-authorization-server`;

  expect(Object(await (await show(await assertion())).json()).error).toBe('unsupported_grant_type');
  const metadata = Object(await (await fetch(url)).json());
  expect(metadata.grant_types_supported).not.toContain(JWT_BEARER);
  expect(metadata).not.toHaveProperty('authorization_grant_profiles_supported');
});

test('only a listed client is let in, as strong as its rule asks', async () => {
  const { service, provider } = await startAsserting();
  const own = await trustingDeveloper(service, provider);
  const { acme, path, rulePath, outcome } = own;
  const unlisted = await newClient(acme, { authMethod: 'none' });
  const form = { client_id: unlisted.clientId, client_secret: '' };
  const asUnlisted = async () => {
    const assertion = await provider.assert(service.url, unlisted.clientId);
    const sent = { grant_type: JWT_BEARER, client_id: form.client_id, assertion };
    return told(await post(`${service.url}/oauth/token`, sent));
  };

  expect(await asUnlisted()).toBe('unauthorized_client client');
  const rule = { clientId: unlisted.clientId, scopes: ['calendar:read'], defaultScopes: ['calendar:read'] };
  const made = await good(acme, 'POST', `${path}/clients`, rule);
  expect(await asUnlisted()).toBe('unauthorized_client client');
  await good(acme, 'PATCH', `${path}/clients/${made.id}`, { allowPublic: true });
  expect(await asUnlisted()).toBe('invalid_grant possession');
  await good(acme, 'PATCH', rulePath, { status: 'paused' });
  expect(await outcome()).toBe('unauthorized_client client');
  await good(acme, 'PATCH', rulePath, { status: 'active' });
  expect(await outcome()).toBe('200');

  const dynamic = await acme('POST', `${path}/clients`, {
    ...rule,
    clientId: 'dcr_01K9Z3QW5M8T2V4X6Y7Z8A9B0C',
  });
  expect(refusalOf(dynamic)).toBe('400 BAD_REQUEST');
  const policy = { name: 'no calendars', effect: 'deny', scopes: ['calendar:*'] };
  const denial = await good(acme, 'POST', '/v1/policies', policy);
  expect(await outcome()).toMatch(/^access_denied/);
  await acme('DELETE', `/v1/policies/${denial.id}`);
  expect(await outcome()).toBe('200');
  await service.db.deleteFrom('verifiedDomains').where('domain', '=', 'upstream.test').execute();
  expect(await outcome()).toBe('invalid_grant issuer');
  await ownDomain(service, acme, 'upstream.test');
  expect(await outcome()).toBe('200');
});

test('nobody decides for people without an administrator who has said so', async () => {
  const { service, provider } = await startAsserting();
  const acme = await service.asDeveloper({ mode: 'live' });
  const connection = await addOidc(acme, provider, { domains: ['upstream.test'] }, service.url);
  const put = async (body: object) => {
    const path = `/v1/sso/connections/${connection.id}/id-jag`;
    const answer = await acme('PUT', path, { enabled: true, ...body });
    const { code = 'done', details } = answer.json();
    return [code, ...(details?.field ? [details.field] : [])].join(' ');
  };
  const acknowledged = { acknowledge: 'no personal consent' };

  await service.db.deleteFrom('verifiedDomains').where('domain', '=', 'upstream.test').execute();
  expect(await put(acknowledged)).toBe('CONFLICT domains');
  await ownDomain(service, acme, 'upstream.test');
  expect(await put({})).toBe('BAD_REQUEST');
  await service.db
    .updateTable('developers')
    .set({ consentMode: 'passkey' })
    .where('id', '=', acme.developerId)
    .execute();
  expect(await put({})).toBe('CONFLICT consentMode');
  await good(acme, 'PATCH', `/v1/sso/connections/${connection.id}`, { status: 'inactive' });
  expect(await put(acknowledged)).toBe('CONFLICT status');
  await good(acme, 'PATCH', `/v1/sso/connections/${connection.id}`, { status: 'active' });
  expect(await put(acknowledged)).toBe('done');
});

test('M16: what a person has ended stays ended, and a narrower rule ends what it no longer covers', async () => {
  const { service, provider } = await startAsserting();
  const { acme, outcome, token, rulePath } = await trustingDeveloper(service, provider);
  const isValid = async (text: string) =>
    (await acme('POST', '/v1/tokens/verify', { token: text })).json().valid;
  const { access_token: first, 'urn:service:grant': grant } = await token();
  const session = (await good(acme, 'POST', '/v1/principal-sessions', { principalId: 'ada@upstream.test' }))
    .sessionToken;
  const revoked = await service.app.inject({
    method: 'DELETE',
    url: `/v1/principal/grants/${grant.grant_id}`,
    headers: { authorization: `Bearer ${session}` },
  });
  expect(revoked.statusCode).toBeLessThan(300);

  expect(await isValid(first)).toBe(false);
  expect(await outcome()).toBe('access_denied stopped');
  const [stop] = (await acme('GET', '/v1/sso/id-jag/stops')).json().stops;
  expect(stop).toMatchObject({ principalId: 'ada@upstream.test', by: 'principal', grantId: grant.grant_id });
  const asPerson = (method: 'GET' | 'DELETE', path = '', from = session) =>
    service.app.inject({
      method,
      url: `/v1/principal/stops${path}`,
      headers: { authorization: `Bearer ${from}` },
    });
  await grantTo(acme, { principalId: 'user_43' });
  const other = (await good(acme, 'POST', '/v1/principal-sessions', { principalId: 'user_43' })).sessionToken;
  expect((await asPerson('GET')).json().stops).toEqual([stop]);
  expect((await asPerson('GET', '', other)).json().stops).toEqual([]);
  expect((await asPerson('DELETE', `/${stop.id}`, other)).statusCode).toBe(404);
  expect((await asPerson('DELETE', `/${stop.id}`)).statusCode).toBe(204);
  expect((await asPerson('DELETE', `/${stop.id}`)).statusCode).toBe(404);
  const { access_token: second } = await token();
  expect(await isValid(second)).toBe(true);

  await good(acme, 'PATCH', rulePath, { scopes: ['calendar:read'] });
  expect(await isValid(second)).toBe(false);
  const { access_token: third } = await token(); // an end by the rule is no stop
  expect(await isValid(third)).toBe(true);
  await good(acme, 'PATCH', rulePath, { scopes: ['calendar:read', 'mail:read'] });
  expect(await isValid(third)).toBe(true);
  expect((await token({ scope: 'mail:read' })).scope).toBe('mail:read');
  expect(await isValid(third)).toBe(false); // the wider ceiling has a grant of its own
  const { access_token: last } = await token();
  expect((await acme('DELETE', rulePath)).statusCode).toBe(204);
  expect(await isValid(last)).toBe(false);
  expect(await outcome()).toBe('unauthorized_client client');
});

test('nothing outlives the word of the provider by more than its token', async () => {
  const { service, provider } = await startAsserting();
  const { acme, token } = await trustingDeveloper(service, provider, { rule: { tokenTtlSeconds: 600 } });
  const body = await token(
    { scope: 'calendar:read offline_access' },
    { scope: 'calendar:read offline_access' },
  );
  expect(body).toMatchObject({ scope: 'calendar:read', expires_in: 600 });
  expect(body).not.toHaveProperty('refresh_token');
  const { agentId: subAgentId } = await good(acme, 'POST', '/v1/agents', { name: 'Helper' });
  const delegate = (scopes: string[], expiresIn: string) =>
    acme('POST', '/v1/grants/delegate', {
      parentGrantToken: body.access_token,
      subAgentId,
      scopes,
      expiresIn,
    });

  expect(refusalOf(await delegate(['calendar:write'], '60s'))).toMatch(/^400 INVALID_SCOPE/); // within the grant
  const child = (await delegate(['calendar:read'], '30d')).json();
  const ends = partsOf(body.access_token).payload.exp * 1000;
  expect(Date.parse(child.grantExpiresAt)).toBe(ends);
  expect(child).toMatchObject({ refreshToken: null, scopes: ['calendar:read'] });
  service.advance(599);
  expect((await acme('POST', '/v1/tokens/verify', { token: child.grantToken })).json().valid).toBe(true);
  service.advance(1);
  expect((await acme('POST', '/v1/tokens/verify', { token: child.grantToken })).json().valid).toBe(false);
});

test('M16: a person does not lift the stop of another, such as the developer', async () => {
  const { service, provider } = await startAsserting();
  const { acme, outcome, token } = await trustingDeveloper(service, provider);
  const { 'urn:service:grant': grant } = await token();
  const { sessionToken } = await good(acme, 'POST', '/v1/principal-sessions', {
    principalId: 'ada@upstream.test',
  });
  await acme('DELETE', `/v1/grants/${grant.grant_id}`);
  const headers = { authorization: `Bearer ${sessionToken}` };
  const { stops } = (await service.app.inject({ url: '/v1/principal/stops', headers })).json();

  const lifted = await service.app.inject({
    method: 'DELETE',
    url: `/v1/principal/stops/${stops[0].id}`,
    headers,
  });

  expect([stops[0].by, lifted.statusCode]).toEqual(['developer', 404]);
  expect(await outcome()).toBe('access_denied stopped');
  expect((await acme('DELETE', `/v1/sso/id-jag/stops/${stops[0].id}`)).statusCode).toBe(204);
  expect(await outcome()).toBe('200');
  expect(await entriesOf(acme, 'sso.stop.deleted')).toMatchObject([{ metadata: { stopId: stops[0].id } }]);
});

test('a rule is changed and removed at its own connection alone', async () => {
  const { service, provider } = await startAsserting();
  const { acme, outcome, rule, rulePath } = await trustingDeveloper(service, provider);
  const other = await addOidc(acme, provider, { domains: ['other.test'] }, service.url);
  const elsewhere = `/v1/sso/connections/${other.id}/clients/${rule.id}`;

  expect((await acme('PATCH', elsewhere, { scopes: ['mail:read'] })).statusCode).toBe(404);
  expect((await acme('DELETE', elsewhere)).statusCode).toBe(404);

  expect((await acme('GET', rulePath)).json()).toEqual(rule);
  expect(await outcome()).toBe('200');
});

test('a client that describes itself is listed by its address, and gets tokens for a named resource', async () => {
  const { service, provider } = await startAsserting({ OAUTH_CIMD_ALLOW_PRIVATE_HOSTS: 'true' });
  const { acme, path } = await trustingDeveloper(service, provider, { mode: 'live' });
  const receiver = await startReceiver({ tls: certificate });
  setDefaultCACertificates([...getCACertificates('default'), certificate.cert]);
  const clientId = `https://localhost:${receiver.port}/client.json`;
  const { publicKey, privateKey } = await generateKeyPair('ES256');
  const document = {
    ...{ client_id: clientId, client_name: 'Editor', redirect_uris: ['http://127.0.0.1/callback'] },
    ...{ token_endpoint_auth_method: 'private_key_jwt', jwks: { keys: [await exportJWK(publicKey)] } },
  };
  receiver.answer((_request, response) => {
    response.setHeader('content-type', 'application/json').end(JSON.stringify(document));
  });
  await ownDomain(service, acme, 'tools.test');
  const resource = 'https://tools.test/mcp';
  await good(acme, 'POST', '/v1/resources', { resource, name: 'Tools' });
  const show = async (claims: object, form: Record<string, string> = {}) => {
    const client = await new SignJWT({ jti: crypto.randomUUID() })
      .setProtectedHeader({ alg: 'ES256' })
      .setIssuer(clientId)
      .setSubject(clientId)
      .setAudience(service.url)
      .setExpirationTime(provider.seconds() + 60)
      .sign(privateKey);
    const assertion = await provider.assert(service.url, clientId, { claims });
    return post(`${service.url}/oauth/token`, {
      ...{ grant_type: JWT_BEARER, client_id: clientId, assertion },
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
      ...{ client_assertion: client, ...form },
    });
  };
  const rule = { clientId, scopes: ['calendar:read'], defaultScopes: ['calendar:read'] };

  expect(await told(await show({ resource }))).toBe('unauthorized_client client');
  expect(
    (await acme('POST', `${path}/clients`, { ...rule, clientId: 'dcr_01K9Z3QW5M8T2V4X6Y7Z8A9B0C' }))
      .statusCode,
  ).toBe(400);
  const made = await good(acme, 'POST', `${path}/clients`, rule);
  const answer = await show({ resource });
  const body = Object(await answer.json());

  expect([answer.status, body.resource, body.scope]).toEqual([200, [resource], 'calendar:read']);
  expect((await acme('GET', `/v1/agents/${made.agentId}`)).json()).toMatchObject({
    ...{ origin: 'cimd', clientId, status: 'active', name: `localhost:${receiver.port}` },
  });
  expect(partsOf(body.access_token).payload).toMatchObject({ client_id: made.agentId, aud: resource });
  expect((await show({}, { resource })).status).toBe(200);
  expect(await told(await show({}))).toMatch(/^invalid_target/);
  await acme('PATCH', `/v1/agents/${made.agentId}`, { status: 'suspended' });
  expect((await show({ resource })).status).toBe(400);
});

test('the trust in an issuer ends with it: another one is trusted again by an administrator, and grants end', async () => {
  const { service, provider } = await startAsserting();
  const other = await startAssertingProvider(service);
  const { acme, client, connection, path, show, token } = await trustingDeveloper(service, provider);
  const { access_token: before } = await token();
  const isValid = async () =>
    (await acme('POST', '/v1/tokens/verify', { token: before })).json().valid as boolean;
  const claims = { sub: 'bea', email: 'bea@upstream.test' };
  const byOther = async () => told(await show(await other.assert(service.url, client.clientId, { claims })));
  const secret = { clientSecret: 'secret-of-the-other-provider' };
  await good(acme, 'PATCH', path, { name: 'Renamed', issuerUrl: provider.issuer });
  expect([await isValid(), (await acme('GET', `${path}/id-jag`)).json().enabled]).toEqual([true, true]);

  await good(acme, 'PATCH', path, { issuerUrl: other.issuer, ...secret });

  expect(await byOther()).toBe('invalid_grant issuer');
  expect([await isValid(), (await acme('GET', `${path}/id-jag`)).json().enabled]).toEqual([false, false]);
  const entries = await entriesOf(acme, 'sso.id_jag.updated');
  expect(entries.map(({ metadata }) => metadata)).toContainEqual(
    expect.objectContaining({ connectionId: connection.id, enabled: false }),
  );
  const [revoked] = await entriesOf(acme, 'grant.revoked');
  expect(revoked?.metadata).toMatchObject({ reason: 'idp_rule' });
  await good(acme, 'PUT', `${path}/id-jag`, { enabled: true, acknowledge: 'no personal consent' });
  expect(await byOther()).toBe('200');
});
