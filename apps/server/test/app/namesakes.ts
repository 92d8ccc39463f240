import { sql } from 'kysely';
import { type Executor, inTransaction } from '../../src/platform/db/db.ts';

/** Sort before and after the ids of all developers, so that a search without its tenant meets one of them first. */
export const NAMESAKES = ['dev_00000000000000000000000000', 'dev_ZZZZZZZZZZZZZZZZZZZZZZZZZZ'] as const;

/** In the names and texts of the namesakes' records, and in nobody else's. */
export const MARK = 'namesake';

/** Look-ups that find the tenant of an id. They cannot hold an id twice. */
const LOOK_UPS = [
  'api_key_index',
  'agent_index',
  'email_verification_index',
  'billing_customers',
  'verified_emails',
  'verified_domains',
  'scim_token_index',
  'resource_index',
  'ssf_receivers',
  'ssf_tokens',
  'tlog_index',
];

const marked = Object.fromEntries(
  [
    'name',
    'description',
    'did',
    'agent_did',
    'purpose',
    'audience',
    'envelope',
    'last_error',
    'redirect_uri',
  ].map((column) => [column, MARK]),
);

/** Members that end the records of the first namesake. A table passes over those that are no columns of its own. */
const ended: Readonly<Record<string, object>> = {
  developers: { max_delegation_depth: 1 },
  idempotent_answers: { body: '\\x00' },
  agents: { status: 'revoked' },
  auth_requests: { status: 'denied' },
  grants: { status: 'revoked', expires_at: '2020-01-01' },
  tokens: { revoked_at: '2020-01-01', expires_at: '2020-01-01' },
  refresh_tokens: { spent_at: '2020-01-01', expires_at: '2020-01-01' },
  principal_sessions: { expires_at: '2020-01-01' },
  webhook_endpoints: { status: 'disabled', events: ['nothing'] },
  webhook_deliveries: { status: 'failed', next_attempt_at: null, leased_until: null },
  quota_counters: { used: 1_000_000 },
  api_keys: { revoked_at: '2020-01-01' },
  scim_tokens: { expires_at: '2020-01-01' },
  scim_principals: { is_active: false },
};

export type TenantTable = readonly [table: string, column: string];

/** The tables that hold records of a developer, by the column that names the developer. */
export async function tenantTables(db: Executor): Promise<TenantTable[]> {
  const { rows } = await sql<{ name: string }>`
    select c.table_name as name from information_schema.columns c
    where c.table_schema = 'public' and c.column_name = 'developer_id' and c.table_name <> all (${LOOK_UPS})
    order by 1`.execute(db);
  return [['developers', 'id'], ...rows.map(({ name }): TenantTable => [name, 'developer_id'])];
}

/** The columns of a table that an insert may name, which are those that Postgres does not generate. */
export async function writtenColumns(db: Executor, table: string) {
  const { rows } = await sql<{ name: string }>`
    select column_name as name from information_schema.columns
    where table_schema = 'public' and table_name = ${table} and is_generated = 'NEVER'
    order by ordinal_position`.execute(db);
  return rows.map(({ name }) => sql.ref(name));
}

/**
 * Copies all records of a developer to two others, with all their ids: the first has ended everything, and the second
 * has everything under other names. Afterwards the developer's own rows come last in each table.
 */
export async function giveNamesakes(db: Executor, developerId: string): Promise<void> {
  const tables = await tenantTables(db);
  await inTransaction(db, async (tx) => {
    await sql`set local session_replication_role = replica`.execute(tx); // the audit log refuses changes
    for (const [table, column] of tables) {
      const [name, key] = [sql.table(table), sql.ref(column)];
      const columns = sql.join(await writtenColumns(tx, table));
      for (const [at, namesake] of NAMESAKES.entries()) {
        const changes = JSON.stringify({ ...marked, ...(at === 0 && ended[table]), [column]: namesake });
        await sql`insert into ${name} (${columns}) select ${columns} from (
          select (jsonb_populate_record(one, ${changes}::jsonb)).* from ${name} one where one.${key} = ${developerId}
        ) copy`.execute(tx);
      }
      // An update would leave the row in the place where indexes find it first.
      await sql`with own as (delete from ${name} where ${key} = ${developerId} returning *)
        insert into ${name} (${columns}) select ${columns} from own`.execute(tx);
    }
  });
}

/** Every row of some developers as text, by table, and whether this transaction has locked it. */
export async function rowsOf(
  db: Executor,
  tables: readonly TenantTable[],
  developerIds: readonly string[],
): Promise<string[]> {
  const ids = sql`any (${developerIds}::text[])`;
  const each = tables.map(
    ([table, column]) => sql`select ${table}::text || ' ' || t::text
      || case when t.xmax = pg_current_xact_id()::xid then ' locked' else '' end as text
      from ${sql.table(table)} t where t.${sql.ref(column)} = ${ids}`,
  );
  const { rows } = await sql<{ text: string }>`${sql.join(each, sql` union all `)} order by 1`.execute(db);
  return rows.map(({ text }) => text);
}
