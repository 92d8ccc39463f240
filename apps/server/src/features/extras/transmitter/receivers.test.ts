import * as openid from 'openid-client';
import { expect, test } from 'vitest';
import { ownDomain } from '../../../../test/app/asserting.ts';
import { actionsOf, entriesOf, grantTo } from '../../../../test/app/flow.ts';
import { startListening } from '../../../../test/app/listening.ts';
import { newClient } from '../../../../test/app/oauth.ts';
import {
  askForToken,
  CAEP,
  ISSUER,
  newReceiver,
  newStream,
  RISC,
  startPolling,
} from '../../../../test/app/receiving.ts';
import { openConnections, startApp } from '../../../../test/app/start-app.ts';

const ALL = [
  `${CAEP}/session-revoked`,
  `${RISC}/account-disabled`,
  `${RISC}/account-enabled`,
  `${RISC}/account-purged`,
  `${CAEP}/credential-change`,
  `${CAEP}/token-claims-change`,
];

test('a receiver is registered, read, changed and deleted, and each act is recorded', async () => {
  const service = await startApp();
  const [acme, other] = [await service.asDeveloper(), await service.asDeveloper()];

  const made = await acme('POST', '/v1/ssf/receivers', { name: 'SIEM' });
  const { receiverId: id, clientSecret, ...shown } = made.json();

  expect(made.statusCode).toBe(201);
  expect(clientSecret).toMatch(/^bhs_[\w-]{43}$/);
  expect({ id, ...shown }).toMatchObject({
    ...{ id, clientId: id, audience: `${ISSUER}/ssf/receivers/${id}`, events: ALL },
    ...{ subjectFormat: 'iss_sub', subjectShape: 'complex', staticToken: false },
  });
  expect(shown.accessToken).toBeUndefined();
  expect((await acme('GET', '/v1/ssf/receivers')).json().receivers).toEqual([{ receiverId: id, ...shown }]);
  expect((await other('GET', `/v1/ssf/receivers/${id}`)).statusCode).toBe(404);
  const changed = await acme('PATCH', `/v1/ssf/receivers/${id}`, { events: ALL.slice(0, 1) });
  expect(changed.json().events).toEqual(ALL.slice(0, 1));
  const unknown = await acme('PATCH', `/v1/ssf/receivers/${id}`, { events: ['https://schemas.test/other'] });
  expect(unknown.json().details.fields).toMatchObject([{ path: 'events.0', problem: 'not_allowed' }]);
  expect((await acme('DELETE', `/v1/ssf/receivers/${id}`)).statusCode).toBe(204);
  expect((await acme('GET', `/v1/ssf/receivers/${id}`)).statusCode).toBe(404);
  expect((await actionsOf(acme)).slice(1)).toEqual([
    ...['ssf.receiver.created', 'ssf.receiver.updated', 'ssf.receiver.deleted'],
  ]);
});

test('an account has twenty receivers at most, also when two registrations race for the last place', async () => {
  const service = await startApp();
  const acme = await service.asDeveloper();
  const register = () => acme('POST', '/v1/ssf/receivers', { name: 'SIEM' });
  for (let made = 0; made < 19; made += 1) expect((await register()).statusCode).toBe(201);

  await openConnections(service.db);
  const raced = await Promise.all(Array.from({ length: 6 }, register));

  expect(raced.map(({ statusCode }) => statusCode).sort()).toEqual([201, 409, 409, 409, 409, 409]);
  expect((await acme('GET', '/v1/ssf/receivers')).json().receivers).toHaveLength(20);
});

test('M18: an audience of its own lies on a verified domain, and belongs to one receiver of the installation', async () => {
  const service = await startApp();
  const [acme, other] = [await service.asDeveloper(), await service.asDeveloper()];
  const domain = 'siem-owner.test';
  await ownDomain(service, acme, domain);
  const register = (developer: typeof acme, audience: string) =>
    developer('POST', '/v1/ssf/receivers', { name: 'SIEM', audience });

  expect((await register(acme, `https://siem.${domain}/signals`)).statusCode).toBe(201);
  expect((await register(acme, `https://siem.${domain}/signals`)).statusCode).toBe(409);
  expect((await register(other, `https://siem.${domain}/signals`)).statusCode).toBe(400);
  for (const foreign of [
    ...[`http://siem.${domain}/`, `https://${domain}.evil.test/`, `https://evil${domain}/`],
    ...[`https://user@${domain}/`, 'urn:siem', `${ISSUER}/ssf/receivers/x`],
  ]) {
    expect([foreign, (await register(acme, foreign)).statusCode]).toEqual([foreign, 400]);
  }
  const raced = await Promise.all(Array.from({ length: 3 }, () => register(acme, `https://${domain}/raced`)));
  expect(raced.map(({ statusCode }) => statusCode).sort()).toEqual([201, 409, 409]);
});

test('M19: a receiver gets an access token for an hour, and the metadata list the grant type', async () => {
  const service = await startApp();
  const acme = await service.asDeveloper();
  const receiver = await newReceiver(service, acme);
  const metadata = (await service.app.inject('/.well-known/oauth-authorization-server')).json();

  const answer = await askForToken(service, receiver, { scope: 'ssf.read' });
  const { access_token: token } = answer.json();

  expect(metadata.grant_types_supported).toContain('client_credentials');
  expect(answer.headers['cache-control']).toBe('no-store');
  expect(answer.json()).toEqual({
    ...{ access_token: expect.stringMatching(/^[\w-]{43}$/), token_type: 'Bearer', expires_in: 3600 },
    scope: 'ssf.read',
  });
  const stored = await service.db.selectFrom('ssfTokens').selectAll().execute();
  expect(JSON.stringify(stored)).not.toContain(token);
  const call = service.calling(token);
  expect((await call('GET', '/ssf/streams')).statusCode).toBe(200);
  service.advance(3600);
  expect((await call('GET', '/ssf/streams')).statusCode).toBe(401);
});

test('M19: only a receiver with its secret has the grant type, and only for its scopes', async () => {
  const service = await startApp();
  const acme = await service.asDeveloper();
  const receiver = await newReceiver(service, acme);
  const { clientId, clientSecret = '' } = await newClient(acme);
  const refused = async (client: { clientId: string; clientSecret: string }, form: object = {}) => {
    const answer = await askForToken(service, client, form);
    return [answer.statusCode, answer.json().error];
  };

  expect(await refused({ clientId, clientSecret })).toEqual([400, 'unauthorized_client']);
  expect(await refused({ clientId, clientSecret: 'bhs_wrong' })).toEqual([401, 'invalid_client']);
  expect(await refused({ ...receiver, clientSecret: 'bhs_wrong' })).toEqual([401, 'invalid_client']);
  const nobody = 'ssfr_01K9Z3QW5M8T2V4X6Y7Z8A9B0C';
  expect(await refused({ ...receiver, clientId: nobody })).toEqual([401, 'invalid_client']);
  expect(await refused(receiver, { scope: 'ssf.read calendar:read' })).toEqual([400, 'invalid_scope']);
  expect(await refused(receiver, { grant_type: 'authorization_code' })).toEqual([401, 'invalid_client']);
  expect((await askForToken(service, receiver, { scope: 'ssf.manage ssf.read' })).statusCode).toBe(200);
});

test('a library that reads the metadata gets a token, and a stream with it', async () => {
  const { app, ...service } = await startListening();
  const acme = await service.asDeveloper();
  const { receiverId, clientSecret } = (await acme('POST', '/v1/ssf/receivers', { name: 'SIEM' })).json();
  const { issuer, configuration_endpoint: streams } = (
    await app.inject('/.well-known/ssf-configuration')
  ).json();

  const config = await openid.discovery(new URL(issuer), receiverId, clientSecret, undefined, {
    algorithm: 'oauth2',
    execute: [openid.allowInsecureRequests],
  });
  const { access_token: token } = await openid.clientCredentialsGrant(config, { scope: 'ssf.manage' });
  const made = await openid.fetchProtectedResource(
    config,
    token,
    new URL(streams),
    'POST',
    JSON.stringify({}),
    new Headers({ 'content-type': 'application/json' }),
  );

  expect(made.status).toBe(201);
  expect(await made.json()).toMatchObject({ iss: issuer, delivery: { method: 'urn:ietf:rfc:8936' } });
});

test('after a rotation the former secret and its tokens hold until the end of the grace period', async () => {
  const service = await startApp();
  const acme = await service.asDeveloper();
  const before = await newReceiver(service, acme, { staticToken: true });
  const rotate = `/v1/ssf/receivers/${before.receiverId}/rotate-secret`;

  const rotated = (await acme('POST', rotate, { graceSeconds: 600 })).json();
  const after = { ...before, clientSecret: rotated.clientSecret };
  const late = (await askForToken(service, before)).json();

  const statusesOf = async () => ({
    secrets: [
      (await askForToken(service, before)).statusCode,
      (await askForToken(service, after)).statusCode,
    ],
    tokens: await Promise.all(
      [before.token, before.accessToken, late.access_token, rotated.accessToken].map(
        async (token) => (await service.calling(token)('GET', '/ssf/streams')).statusCode,
      ),
    ),
  });
  expect(rotated.accessToken).toMatch(/^bh_ssf_[\w-]{43}$/);
  expect(late.expires_in).toBe(600);
  expect(await statusesOf()).toEqual({ secrets: [200, 200], tokens: [200, 200, 200, 200] });
  service.advance(600);
  expect(await statusesOf()).toEqual({ secrets: [401, 200], tokens: [401, 401, 401, 200] });
  const { clientSecret } = (await acme('POST', rotate, { graceSeconds: 0 })).json();
  expect((await askForToken(service, after)).statusCode).toBe(401);
  expect((await askForToken(service, { ...after, clientSecret })).statusCode).toBe(200);
});

test('a deleted receiver is gone with its tokens and streams', async () => {
  const service = await startApp();
  const acme = await service.asDeveloper();
  const receiver = await newReceiver(service, acme, { staticToken: true });
  await newStream(receiver);

  expect((await acme('DELETE', `/v1/ssf/receivers/${receiver.receiverId}`)).statusCode).toBe(204);

  expect((await receiver.call('GET', '/ssf/streams')).statusCode).toBe(401);
  expect((await service.calling(receiver.accessToken)('GET', '/ssf/streams')).statusCode).toBe(401);
  expect((await askForToken(service, receiver)).statusCode).toBe(401);
  expect((await actionsOf(acme)).slice(-2)).toEqual(['ssf.stream.deleted', 'ssf.receiver.deleted']);
});

test('M19: a rotation lengthens no token, and ends those of its own receiver alone', async () => {
  const service = await startApp();
  const acme = await service.asDeveloper();
  const beside = await newReceiver(service, acme, { staticToken: true });
  const { token: first, ...receiver } = await newReceiver(service, acme);
  service.advance(1800);
  const second = (await askForToken(service, receiver)).json().access_token;
  service.advance(1800);
  const statusesOf = (...tokens: string[]) =>
    Promise.all(
      tokens.map(async (token) => (await service.calling(token)('GET', '/ssf/streams')).statusCode),
    );

  const rotate = `/v1/ssf/receivers/${receiver.receiverId}/rotate-secret`;
  expect((await acme('POST', rotate, { graceSeconds: 86_400 })).statusCode).toBe(200);

  expect(await statusesOf(first, second, beside.accessToken)).toEqual([401, 200, 200]);
  service.advance(1800);
  expect(await statusesOf(first, second, beside.accessToken)).toEqual([401, 401, 200]);
  service.advance(86_400);
  expect(await statusesOf(beside.accessToken)).toEqual([200]);
  expect((await entriesOf(acme, 'ssf.receiver.updated')).map(({ metadata }) => metadata)).toMatchObject([
    { receiverId: receiver.receiverId, changed: ['secret'] },
  ]);
  const tokensLeft = async () =>
    (
      await service.db
        .selectFrom('ssfTokens')
        .select('isStatic')
        .where('developerId', '=', acme.developerId)
        .execute()
    ).map(({ isStatic }) => isStatic);
  expect(await tokensLeft()).toHaveLength(4);
  await service.runJob('care of signal streams');
  expect(await tokensLeft()).toEqual([true]); // the job deletes ended tokens
});

test('M19: a token of a former secret ends with the secret, whatever is left of the hour', async () => {
  const service = await startApp();
  const acme = await service.asDeveloper();
  const receiver = await newReceiver(service, acme);
  await acme('POST', `/v1/ssf/receivers/${receiver.receiverId}/rotate-secret`, { graceSeconds: 7200 });

  const early = (await askForToken(service, receiver)).json();
  service.advance(7199);
  const { expires_in: left, access_token: late } = (await askForToken(service, receiver)).json();
  service.advance(1);

  expect([early.expires_in, left]).toEqual([3600, 1]);
  expect((await service.calling(late)('GET', '/ssf/streams')).statusCode).toBe(401);
  expect((await askForToken(service, receiver)).statusCode).toBe(401);
});

test('M19: a receiver is counted by itself, and a stranger by its address', async () => {
  const service = await startApp({ env: { RATE_LIMIT_OAUTH_TOKEN: '3' } });
  const receiver = await newReceiver(service, await service.asDeveloper());
  const ask = async (clientSecret: string) =>
    (await askForToken(service, { ...receiver, clientSecret })).statusCode;
  const wrong = 'bhs_wrong';

  expect([await ask(wrong), await ask(wrong), await ask(wrong), await ask(wrong)]).toEqual([
    ...[401, 401, 401, 429],
  ]);
  const { clientSecret } = receiver; // its first token came with the registration
  expect([await ask(clientSecret), await ask(clientSecret), await ask(clientSecret)]).toEqual([
    ...[200, 200, 429],
  ]);
});

test("a narrower ceiling holds for the receiver's streams at once, and a wider one too", async () => {
  const { acme, receiver, poll, service } = await startPolling();
  const revoke = async () => {
    const { grantId } = await grantTo(acme);
    await acme('DELETE', `/v1/grants/${grantId}`);
    service.advance(60); // a lease ends after a minute
    return grantId;
  };
  const cap = (events: readonly string[]) =>
    acme('PATCH', `/v1/ssf/receivers/${receiver.receiverId}`, { events });

  await cap([`${RISC}/account-disabled`]);
  await revoke();
  const narrowed = await poll();
  await cap(ALL);
  const grantId = await revoke();

  expect(narrowed.jtis).toEqual([]);
  expect((await poll()).signals.map(({ sub_id }) => sub_id.session.id)).toEqual([grantId]);
});
