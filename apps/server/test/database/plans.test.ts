import { sql } from 'kysely';
import { expect, test, vi } from 'vitest';
import { type Executor, inTransaction } from '../../src/platform/db/db.ts';
import { registerAgent, startSandbox } from '../app/flow.ts';
import { hotCallsOf } from '../app/hot-calls.ts';
import { lookingAt, MANY_ROWS, MOST_SECONDS, openPlanned, ROWS } from './whole-reads.ts';

vi.setConfig({ testTimeout: MOST_SECONDS * 1000 });

test(`at ${MANY_ROWS} grants and tokens, and ${ROWS} rows of each other table, no call of an agent reads a whole one`, async () => {
  const { databaseUrl, db } = await openPlanned();
  const { acme, service } = await startSandbox({ databaseUrl, dbAs: () => db });
  const calls = await hotCallsOf(service, acme);
  const { agentId } = await registerAgent(acme);
  await fill(db);

  const look = lookingAt(db, Object.keys(TABLES));
  const looks: Record<string, [status: number, tables: string[]]> = {};
  for (const [name, call] of Object.entries(calls)) looks[name] = await look(() => service.app.inject(call));
  const lists = [
    `/v1/agents?cursor=${agentId}`,
    '/v1/agents?status=suspended',
    `/v1/agents?status=suspended&cursor=${agentId}`,
    '/v1/audit/entries?order=desc&limit=10',
    `/v1/audit/entries?agentId=${agentId}`,
    '/v1/audit/entries?action=grant.revoked&limit=10',
    '/v1/events?limit=10',
  ];
  for (const url of lists) looks[url] = await look(() => acme('GET', url));

  expect(looks).toEqual(
    Object.fromEntries(Object.keys(looks).map((name) => [name, [expect.toSatisfy(isSuccess), []]])),
  );
});

const isSuccess = (status: number) => status < 400;

/** In place of a column's value, in each copy of a row. */
const CHANGED = {
  id: 'one.id || n',
  root_grant_id: 'one.id || n',
  auth_request_id: 'null',
  predecessor_id: 'null',
  seq: '1000000 + n',
};

/** The large tables, each with a further column that tells a copy from its original. */
const TABLES: Readonly<Record<string, string | undefined>> = {
  agents: undefined,
  auth_requests: undefined,
  grants: undefined,
  tokens: undefined,
  refresh_tokens: undefined,
  audit_entries: undefined,
  outbox_events: undefined,
  vault_credentials: 'principal_id',
  budget_allocations: 'grant_id',
  oauth_clients: 'agent_id',
};

const MANY = new Set(['grants', 'tokens']);

/** Copies a row of each table many times. */
async function fill(db: Executor): Promise<void> {
  await inTransaction(db, async (tx) => {
    await sql`set local session_replication_role = replica`.execute(tx); // without looks at foreign keys
    for (const [name, further] of Object.entries(TABLES)) {
      const changed = new Map(Object.entries(CHANGED));
      if (further) changed.set(further, `one.${further} || n`);
      const { rows } = await sql<{ column: string }>`select attname as column from pg_attribute
        where attrelid = ${name}::regclass and attnum > 0 and not attisdropped`.execute(tx);
      const count = MANY.has(name) ? MANY_ROWS : ROWS;
      const values = rows.map(({ column }) => changed.get(column) ?? `one.${column}`).join();
      await sql
        .raw(
          `insert into ${name} select ${values} from ${name} one cross join generate_series(1, ${count}) n
           where one.ctid = (select min(ctid) from ${name})`,
        )
        .execute(tx);
    }
  });
  await sql.raw(`vacuum analyze ${Object.keys(TABLES).join(', ')}`).execute(db);
}
