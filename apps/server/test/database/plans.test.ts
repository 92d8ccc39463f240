import { sql } from 'kysely';
import { expect, test, vi } from 'vitest';
import { type Executor, inTransaction } from '../../src/platform/db/db.ts';
import { authorize, grantTo, registerAgent, startSandbox } from '../app/flow.ts';
import { lookingAt, MOST_SECONDS, openPlanned, ROWS } from './whole-reads.ts';

vi.setConfig({ testTimeout: MOST_SECONDS * 1000 });

test(`at ${ROWS} rows of each table no call of an agent reads a whole one`, async () => {
  const { databaseUrl, db } = await openPlanned();
  const { acme } = await startSandbox({ databaseUrl, dbAs: () => db });
  const { agentId, did: agentDid, grantToken: token, refreshToken, grantId } = await grantTo(acme);
  const { code } = await authorize(acme, agentId);
  const other = await registerAgent(acme);
  await fill(db);

  const look = lookingAt(db, TABLES);
  const whole = (...call: Parameters<typeof acme>) => look(() => acme(...call));
  const asked = { agentId, principalId: 'user_42', scopes: ['calendar:read'] };
  const part = { parentGrantToken: token, subAgentId: other.agentId, scopes: ['calendar:read'] };
  const entry = { agentId, agentDid, grantId, principalId: 'user_42', action: 'email.sent' };

  expect({
    verify: await whole('POST', '/v1/tokens/verify', { token }),
    authorize: await whole('POST', '/v1/authorize', asked),
    exchange: await whole('POST', '/v1/token', { code, agentId }),
    refresh: await whole('POST', '/v1/token/refresh', { refreshToken, agentId }),
    delegate: await whole('POST', '/v1/grants/delegate', part),
    append: await whole('POST', '/v1/audit/log', entry),
    'get grant': await whole('GET', `/v1/grants/${grantId}`),
    revoke: await whole('DELETE', `/v1/grants/${grantId}`),
    'get agent': await whole('GET', `/v1/agents/${agentId}`),
    'list agents': await whole('GET', '/v1/agents'),
    'further agents': await whole('GET', `/v1/agents?cursor=${agentId}`),
    'suspended agents': await whole('GET', '/v1/agents?status=suspended'),
    'further suspended agents': await whole('GET', `/v1/agents?status=suspended&cursor=${agentId}`),
  }).toEqual({
    verify: [200, []],
    authorize: [201, []],
    exchange: [201, []],
    refresh: [201, []],
    delegate: [201, []],
    append: [201, []],
    'get grant': [200, []],
    revoke: [204, []],
    'get agent': [200, []],
    'list agents': [200, []],
    'further agents': [200, []],
    'suspended agents': [200, []],
    'further suspended agents': [200, []],
  });
});

const TABLES = ['agents', 'auth_requests', 'grants', 'tokens', 'refresh_tokens'];

/** Copies a row of each table many times. A table passes over the members that are no columns of its own. */
async function fill(db: Executor): Promise<void> {
  await inTransaction(db, async (tx) => {
    await sql`set local session_replication_role = replica`.execute(tx); // without looks at foreign keys
    for (const table of TABLES.map((name) => sql.table(name))) {
      await sql`insert into ${table} select (jsonb_populate_record(one, jsonb_build_object('id', one.id || n,  'root_grant_id', one.id || n, 'auth_request_id', null, 'predecessor_id', null))).*
        from ${table} one cross join generate_series(1, ${sql.lit(ROWS)}) n
        where one.ctid = (select min(ctid) from ${table})`.execute(tx);
    }
  });
  await sql.raw(`vacuum analyze ${TABLES.join(', ')}`).execute(db);
}
