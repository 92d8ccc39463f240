import { sql } from 'kysely';
import { expect, onTestFinished } from 'vitest';
import type { Executor } from '../../src/platform/db/db.ts';
import { openDatabase } from '../../src/platform/db/open-database.ts';
import { newDatabase } from '../app/start-app.ts';

/** With an index at this many rows, Postgres uses the index at more. */
export const ROWS = process.env.TEST_LONG ? 100_000 : 10_000;

export const MAX_SECONDS = 120; // a table of the long run takes ten to fill

/** A database of one session, which holds the statistics and plans without looking at the values. */
export async function openPlanned() {
  const databaseUrl = await newDatabase();
  const db = openDatabase({ connectionString: databaseUrl }, 1, undefined, { silence: MAX_SECONDS * 1000 });
  onTestFinished(() => db.destroy());
  await sql
    .raw(
      'do $$ begin execute format($q$alter database %I set plan_cache_mode = force_generic_plan$q$, current_database()); end $$',
    )
    .execute(db);
  return { databaseUrl, db };
}

/** @returns a way to make a call and learn which of the large tables it read from end to end */
export const lookingAt =
  (db: Executor, tables: readonly string[]) =>
  async (
    call: () => PromiseLike<{ readonly statusCode: number }>,
  ): Promise<[status: number, tables: string[]]> => {
    const before = await wholeReads(db, tables);
    const { statusCode } = await call();
    const after = await wholeReads(db, tables);
    return [
      statusCode,
      [...after].filter(([table, reads]) => before.get(table) !== reads).map(([table]) => table),
    ];
  };

/** How often each large table was read from end to end. */
async function wholeReads(db: Executor, tables: readonly string[]): Promise<Map<string, string>> {
  await sql`select pg_stat_force_next_flush()`.execute(db);
  const { rows } = await sql<{ table: string; reads: string }>`
    select relname as table, seq_scan as reads from pg_stat_user_tables where n_live_tup >= ${ROWS}`.execute(
    db,
  );
  expect(rows.map(({ table }) => table).sort()).toEqual([...tables].sort());
  return new Map(rows.map(({ table, reads }) => [table, reads]));
}
