import { sql } from 'kysely';
import type { Executor } from '../../src/platform/db/db.ts';

/** Written to by refusals too: when a key was last used, and how often something was blocked. */
const NOTED = ['api_keys', 'blocked_attempts', 'schema_migrations', 'schema_functions'];

/** How many rows each table has and which transaction wrote last to it, which every write changes. */
export async function sightOf(db: Executor): Promise<string> {
  const { rows } = await sql<{ name: string }>`
    select table_name as name from information_schema.tables
      where table_schema = 'public' and table_type = 'BASE TABLE' order by 1`.execute(db);
  const seen = rows
    .filter(({ name }) => !NOTED.includes(name))
    .map(
      ({ name }) =>
        sql`select ${name}::text as name, count(*)::text as rows, max(xmin::text::bigint)::text as written from ${sql.table(name)}`,
    );
  const all = sql.join(seen, sql` union all `);
  // In order: Postgres counts large tables side by side, and tells of each when it is done.
  return JSON.stringify((await sql`select * from (${all}) tables order by name`.execute(db)).rows);
}
