import pg from 'pg';
import { expect, onTestFinished, test, vi } from 'vitest';
import { findAgent } from '../../src/features/accounts/agents/agents.repo.ts';
import { openDatabase } from '../../src/platform/db/open-database.ts';
import { authorize, grantTo, openSession, registerAgent, startSandbox } from '../app/flow.ts';
import { hotCallsOf } from '../app/hot-calls.ts';
import { send } from '../app/repeating.ts';
import { statementsOf, unnamedOf } from '../app/round-trips.ts';
import { type Developer, newDatabase } from '../app/start-app.ts';
import { exchange, storeCredential } from '../app/vault.ts';

const callers = {
  'an agent': async (acme: Developer) => acme,
  'an agent with a bound key': async (acme: Developer, agentId: string) => acme.asRuntime(agentId),
};

test.each(Object.entries(callers))(
  'a call of %s makes one trip to the database, or one to read and one to write, with prepared statements',
  async (caller, callerOf) => {
    const { acme: owner, service } = await startSandbox();
    const { agentId, did: agentDid, grantToken: token, refreshToken, grantId } = await grantTo(owner);
    const acme = await callerOf(owner, agentId);
    const part = { parentGrantToken: token, subAgentId: agentId, scopes: ['calendar:read'] };
    await storeCredential(owner);
    const { grantToken: credentialed } = await grantTo(owner, { scopes: ['github:read'] });
    const { code } = await authorize(acme, agentId);
    const asked = { agentId, principalId: 'user_42', scopes: ['calendar:read'] };
    const entry = { agentId, agentDid, grantId, principalId: 'user_42', action: 'email.sent' };
    const trips = (...call: Parameters<typeof acme>) => statementsOf(() => acme(...call));
    const stranger = service.calling((await service.asDeveloper()).apiKey);
    const listAgents = caller === 'an agent' ? 'list_agents' : 'list_agents_within';
    await trips('GET', '/v1/agents'); // the process knows the API key from now on

    expect({
      verify: await trips('POST', '/v1/tokens/verify', { token }),
      introspect: await trips('POST', '/v1/tokens/introspect', { token }),
      authorize: await trips('POST', '/v1/authorize', asked),
      'authorize for a tool': await trips('POST', '/v1/authorize', { ...asked, scopes: ['tool:crm:read'] }),
      exchange: await trips('POST', '/v1/token', { code, agentId }),
      refresh: await trips('POST', '/v1/token/refresh', { refreshToken, agentId }),
      delegate: await trips('POST', '/v1/grants/delegate', part),
      'exchange of a credential': await statementsOf(() => exchange(service, credentialed)),
      append: await trips('POST', '/v1/audit/log', entry),
      'get grant': await trips('GET', `/v1/grants/${grantId}`),
      revoke: await trips('DELETE', `/v1/grants/${grantId}`),
      'revoke again': await trips('DELETE', `/v1/grants/${grantId}`),
      'get agent': await trips('GET', `/v1/agents/${agentId}`),
      'list ten agents': await trips('GET', '/v1/agents?limit=10'),
      'list agents': await trips('GET', '/v1/agents'),
      'list grants': await trips('GET', '/v1/grants'),
      'unknown key': await statementsOf(() => stranger('GET', '/v1/agents')),
    }).toEqual({
      verify: ['use_token'],
      introspect: ['use_token'],
      authorize: ['find_asker', 'write_together'],
      'authorize for a tool': ['find_pins', 'find_asker', 'write_together'], // the first two go at once
      exchange: ['find_redeemable', 'write_together'],
      refresh: ['find_refreshable', 'write_together'],
      delegate: ['find_delegable', 'write_together'],
      'exchange of a credential': ['use_grant_token', 'find_exchangeable', 'write_together'],
      append: ['find_grant_of_entry', 'write_together'],
      'get grant': ['find_shown_grant', 'find_budgets_of_grants'], // in one trip
      revoke: ['find_active_tree', 'write_together'],
      'revoke again': ['find_active_tree', 'find_grant'],
      'get agent': ['find_agent'],
      'list ten agents': [listAgents],
      'list agents': [`${listAgents}_bounded`],
      'list grants': ['with page as materialized', 'find_budgets_of_grants'],
      'unknown key': ['use_key', 'list_agents_bounded'],
    });
    expect((await acme('GET', '/v1/audit/entries?action=grant.revoked')).json().entries).toHaveLength(2);
  },
);

test('OAuth, AuthZEN and debits make as few trips, with prepared statements', async () => {
  const { acme, service } = await startSandbox();
  const calls = await hotCallsOf(service, acme);

  const trips: Record<string, string[]> = {};
  for (const [name, call] of Object.entries(calls)) {
    const statements = await statementsOf(() => service.app.inject(call));
    if (/^(?:OAuth|AuthZEN|debit)/.test(name)) trips[name] = statements;
  }

  expect(trips).toEqual({
    'AuthZEN evaluation': ['find_enforceable', 'write_together'],
    'AuthZEN evaluations': ['find_enforceable', 'write_together', 'find_enforceable', 'write_together'], // two questions
    debit: ['budget_chain', 'write_together'],
    'OAuth authorize': ['find_oauth_client', 'find_named_resources', 'find_asker', 'write_together'],
    'OAuth token': ['find_oauth_client', 'find_redeemable', 'find_limiting_resources', 'write_together'],
    'OAuth refresh': ['find_oauth_client', 'find_refreshable', 'find_limiting_resources', 'write_together'],
    'OAuth introspect': ['find_resource_server', 'use_token'],
    'OAuth exchange of a received token': ['find_resource_server', 'use_token', 'write_together'],
    'OAuth token of a receiver': ['find_receiver_client', 'write_together'],
  });
});

/** These lists have as many forms as their filters make, so the builder writes their statements. */
const UNNAMED = {
  'list grants': ['with page as materialized'],
  'list entries': ['with page as materialized'],
};

test('each statement of a hot call has a name, so that Postgres plans it once, but for lists with filters', async () => {
  const { acme, service } = await startSandbox();
  const unnamed: Record<string, string[]> = {};

  for (const [name, call] of Object.entries(await hotCallsOf(service, acme))) {
    let status = 0;
    const statements = await unnamedOf(async () => {
      status = (await service.app.inject(call)).statusCode;
    });
    expect(status, name).toBeLessThan(400);
    if (statements.length > 0) unnamed[name] = statements;
  }

  expect(unnamed).toEqual(UNNAMED);
});

test('without prepared statements, the same trips are made with no names', async () => {
  const databaseUrl = await newDatabase();
  const db = openDatabase({ connectionString: databaseUrl }, 2, undefined, { prepares: false });
  onTestFinished(() => db.destroy());
  const { acme } = await startSandbox({ databaseUrl, dbAs: () => db });
  const { grantToken: token, agentId, refreshToken } = await grantTo(acme);

  expect(await statementsOf(() => acme('POST', '/v1/tokens/verify', { token }))).toEqual(['select']);
  const trips = await statementsOf(() => acme('POST', '/v1/token/refresh', { refreshToken, agentId }));
  expect(trips).toEqual(['select', 'select part, failure, message, place, refusal, id, seq,']);
});

test('look-ups that come together share connections, and each gets its own rows', async () => {
  const databaseUrl = await newDatabase();
  const db = openDatabase({ connectionString: databaseUrl }, 8);
  onTestFinished(() => db.destroy());
  const { acme } = await startSandbox({ databaseUrl, dbAs: () => db });
  const agents = await Promise.all(
    Array.from({ length: 40 }, (_, each) => registerAgent(acme, `Agent ${each}`)),
  );
  const connect = vi.spyOn(pg.Pool.prototype, 'connect');
  onTestFinished(() => connect.mockRestore());

  const found = await Promise.all(
    [...agents, { agentId: 'ag_01K9Z3QW5M8T2V4X6Y7Z8A9B0C', did: undefined }].map(({ agentId }) =>
      findAgent(db, { tenant: acme, agentIds: null }, agentId),
    ),
  );

  expect(found.map((agent) => agent?.did)).toEqual([...agents.map(({ did }) => did), undefined]);
  expect(connect).toHaveBeenCalledTimes(2); // 32 at most are under way on a connection
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

test('a principal reads in one trip, or two for grants with their budgets, ends a grant in nine, and all grants in ten', async () => {
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
    open: 6, // whether single sign-on is enforced; begin, the id, the session, its entry with its event, commit
    grants: 2,
    audit: 1,
    // The session; then begin, the lock, the requests, the lock again, the tree (or the roots and their trees), the
    // revocation, its entries, commit.
    revoke: 9,
    'revoke all': 10,
    'no grants': 1,
    end: 5, // begin, the session, its account, its entry with its event, commit
    'after the end': 1,
  });
});

test('a call of a tool is decided in one trip, counted in another where it has a cap, and recorded in the last', async () => {
  const { acme } = await startSandbox();
  const tools = { list: 'read', send: { permission: 'write', caps: { per_day: 9 } } };
  await acme('PUT', '/v1/manifests/acme_mail', { $schema: 'x', connector: 'acme_mail', tools });
  const { grantToken } = await grantTo(acme, { scopes: ['tool:acme_mail:write'] });
  const call = (tool: string) => ({ grantToken, connector: 'acme_mail', tool, arguments: {} });
  await acme('POST', '/v1/enforce', call('send')); // makes the counter
  const tripsOf = (tool: string) => statementsOf(() => acme('POST', '/v1/enforce', call(tool)));

  expect({
    free: await tripsOf('list'),
    capped: await tripsOf('send'),
    denied: await tripsOf('unknown'),
  }).toEqual({
    free: ['find_enforceable', 'write_together'],
    capped: ['find_enforceable', 'caps_reserve', 'write_together'],
    denied: ['find_enforceable', 'write_together'],
  });
});
