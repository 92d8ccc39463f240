import { expect, test } from 'vitest';
import { authorize, grantTo, openSession, startSandbox } from '../app/flow.ts';
import { send } from '../app/repeating.ts';
import { statementsOf } from '../app/round-trips.ts';

test('a call of an agent makes one trip to the database, or one to read and one to write', async () => {
  const { acme } = await startSandbox();
  const { agentId, grantToken: token, refreshToken, grantId } = await grantTo(acme);
  const part = { parentGrantToken: token, subAgentId: agentId, scopes: ['calendar:read'] };
  const { code } = await authorize(acme, agentId);
  const asked = { agentId, principalId: 'user_42', scopes: ['calendar:read'] };
  const tripsOf = async (...call: Parameters<typeof acme>) => {
    const trips = await statementsOf(() => acme(...call));
    expect(trips).not.toContain('use_key'); // the process knows the API key from requests before
    return trips.length;
  };

  expect({
    verify: await tripsOf('POST', '/v1/tokens/verify', { token }),
    introspect: await tripsOf('POST', '/v1/tokens/introspect', { token }),
    authorize: await tripsOf('POST', '/v1/authorize', asked),
    exchange: await tripsOf('POST', '/v1/token', { code, agentId }),
    refresh: await tripsOf('POST', '/v1/token/refresh', { refreshToken, agentId }),
    delegate: await tripsOf('POST', '/v1/grants/delegate', part),
    revoke: await tripsOf('DELETE', `/v1/grants/${grantId}`),
    'revoke again': await tripsOf('DELETE', `/v1/grants/${grantId}`),
    'list agents': await tripsOf('GET', '/v1/agents'),
    'list grants': await tripsOf('GET', '/v1/grants'),
  }).toEqual({
    verify: 1,
    introspect: 1,
    authorize: 2,
    exchange: 2,
    refresh: 2,
    delegate: 2,
    revoke: 2,
    'revoke again': 2,
    'list agents': 1,
    'list grants': 1,
  });
  expect((await acme('GET', '/v1/audit/entries?action=grant.revoked')).json().entries).toHaveLength(2);
});

test('an `Idempotency-Key` costs at most four more trips: to begin, to look, to keep and to commit', async () => {
  const { acme, service } = await startSandbox();
  const { agentId, grantToken: token, refreshToken } = await grantTo(acme);
  const { code } = await authorize(acme, agentId);
  const asked = { agentId, principalId: 'user_42', scopes: ['calendar:read'] };
  const tripsOf = async (url: string, body: object, method = 'POST') => {
    const sent = { apiKey: acme.apiKey, method, url, body, key: url };
    const [first, again] = [
      await statementsOf(() => send(service, sent)),
      await statementsOf(() => send(service, sent)),
    ];
    return [first.length, again.length];
  };

  expect({
    verify: await tripsOf('/v1/tokens/verify', { token }),
    authorize: await tripsOf('/v1/authorize', asked),
    exchange: await tripsOf('/v1/token', { code, agentId }),
    refresh: await tripsOf('/v1/token/refresh', { refreshToken, agentId }),
    'change agent': await tripsOf(`/v1/agents/${agentId}`, { name: 'Renamed' }, 'PATCH'),
  }).toEqual({
    verify: [5, 3],
    authorize: [6, 3],
    exchange: [6, 3],
    refresh: [6, 3],
    // Five without the header: its own begin and commit have become one savepoint.
    'change agent': [8, 3],
  });
});

test('a principal reads in one trip, ends a grant in three, and ends all grants in eight', async () => {
  const { acme, service } = await startSandbox();
  const { grantId } = await grantTo(acme);
  await grantTo(acme);
  const { sessionToken } = (await openSession(acme)).json();
  const person = service.calling(sessionToken);
  const tripsOf = async (...call: Parameters<typeof person>) =>
    (await statementsOf(() => person(...call))).length;

  expect({
    open: (await statementsOf(() => openSession(acme))).length,
    grants: await tripsOf('GET', '/v1/principal/grants'),
    audit: await tripsOf('GET', '/v1/principal/audit'),
    revoke: await tripsOf('DELETE', `/v1/principal/grants/${grantId}`),
    'revoke all': await tripsOf('DELETE', '/v1/principal/grants'),
    'no grants': await tripsOf('GET', '/v1/principal/grants'),
    end: await tripsOf('DELETE', '/v1/principal/session'),
    'after the end': await tripsOf('GET', '/v1/principal/grants'),
  }).toEqual({
    open: 4, // begin, the session, its entry with its event, commit
    grants: 1,
    audit: 1,
    revoke: 3,
    'revoke all': 8, // the session; then begin, the lock, the roots, their trees, the revocation, its entries, commit
    'no grants': 1,
    end: 1,
    'after the end': 1,
  });
});
