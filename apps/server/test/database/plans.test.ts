import { sql } from 'kysely';
import { expect, onTestFinished, test, vi } from 'vitest';
import { type Executor, inTransaction } from '../../src/platform/db/db.ts';
import { openDatabase } from '../../src/platform/db/open-database.ts';
import { authorize, grantTo, registerAgent, startSandbox } from '../app/flow.ts';
import { newDatabase } from '../app/start-app.ts';

const MOST_SECONDS = 120; // a table of the long run takes ten to fill
vi.setConfig({ testTimeout: MOST_SECONDS * 1000 });

/** With an index at this many rows, Postgres uses the index at more. */
const ROWS = process.env.TEST_LONG ? 100_000 : 10_000;

test(`at ${ROWS} rows of each table no call of an agent reads a whole one`, async () => {
  const databaseUrl = await newDatabase();
  const db = openDatabase({ connectionString: databaseUrl }, 1, undefined, { silence: MOST_SECONDS * 1000 }); // one session, as it holds the statistics
  onTestFinished(() => db.destroy());
  await sql
    .raw(
      'do $$ begin execute format($q$alter database %I set plan_cache_mode = force_generic_plan$q$, current_database()); end $$',
    )
    .execute(db);
  const { acme } = await startSandbox({ databaseUrl, dbAs: () => db });
  const { agentId, did: agentDid, grantToken: token, refreshToken, grantId } = await grantTo(acme);
  const { code } = await authorize(acme, agentId);
  const other = await registerAgent(acme);
  await fill(db);

  const whole = async (...call: Parameters<typeof acme>) => {
    const before = await wholeReads(db);
    const { statusCode } = await acme(...call);
    const after = await wholeReads(db);
    return [
      statusCode,
      [...after].filter(([table, reads]) => before.get(table) !== reads).map(([table]) => table),
    ];
  };
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

/** How often each large table was read from end to end. */
async function wholeReads(db: Executor): Promise<Map<string, string>> {
  await sql`select pg_stat_force_next_flush()`.execute(db);
  const { rows } = await sql<{ table: string; reads: string }>`
    select relname as table, seq_scan as reads from pg_stat_user_tables where n_live_tup >= ${ROWS}`.execute(
    db,
  );
  expect(rows).toHaveLength(TABLES.length);
  return new Map(rows.map(({ table, reads }) => [table, reads]));
}
