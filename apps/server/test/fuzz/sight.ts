import { sql } from 'kysely';
import { features } from '../../src/features.ts';
import type { Executor } from '../../src/platform/db/db.ts';

/**
 * Refusals write to these too: the last use of a key, the number of blocked attempts and the chain of their entries, and
 * the challenge that a wrong answer of a passkey uses up.
 */
const NOTED = [
  ...['api_keys', 'audit_heads', 'blocked_attempts', 'passkey_challenges', 'schema_migrations'],
  'schema_functions',
];

/** The first refused attempt of a minute has an entry. */
const attempts = features.flatMap(({ attempts: actions = [] }) => actions);

const lastWriter = sql`max(xmin::text::bigint)::text`;
/** A refusal notes the last use of a grant whose token it was sent, and of a SCIM token. */
const USED = ['grants', 'scim_tokens'];
const besideUse = (name: string) =>
  sql`md5(string_agg((to_jsonb(${sql.ref(name)}) - 'last_used_at')::text, '' order by id))`;

/** The number of rows in each table, and the last transaction that wrote to it: a line for each. Every write changes this. */
export async function sightOf(db: Executor): Promise<readonly string[]> {
  const { rows } = await sql<{ name: string }>`
    select table_name as name from information_schema.tables
      where table_schema = 'public' and table_type = 'BASE TABLE' order by 1`.execute(db);
  const seen = rows
    .filter(({ name }) => !NOTED.includes(name))
    .map(
      ({ name }) =>
        sql`select ${name}::text as name, count(*)::text as rows, ${USED.includes(name) ? besideUse(name) : lastWriter} as written
          from ${sql.table(name)} where ${name === 'audit_entries' ? sql`action <> all (${attempts})` : sql`true`}`,
    );
  const all = sql.join(seen, sql` union all `);
  // Sorted, because Postgres counts large tables in parallel and returns them in any order.
  const { rows: tables } = await sql`select * from (${all}) tables order by name`.execute(db);
  return tables.map((table) => JSON.stringify(table));
}
