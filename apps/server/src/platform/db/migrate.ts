import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import pg from 'pg';
import type { DatabaseOptions } from './open-database.ts';

/** Any constant will do, as long as every process of the product uses the same. */
const MIGRATION_LOCK = 0x6265_6865;
const FOLDER = `${import.meta.dirname}/../../../migrations`;
const journal = `create table if not exists schema_migrations (
  name text primary key, sha256 text not null, applied_at timestamptz not null default now())`;

/**
 * Applies each `NNN_name.sql` that the journal lacks, in order, each in its own transaction. Many
 * processes may start at once.
 * @throws when a file was edited after it was applied, or the journal knows a later one than we do.
 */
export async function migrate(options: DatabaseOptions, folder = FOLDER): Promise<void> {
  const files = globSync(`${folder}/[0-9]*.sql`).sort();
  const client = new pg.Client(options);
  await client.connect();
  try {
    const applied = await readJournal(client);
    for (const file of files) {
      const [name, sql] = [basename(file), readFileSync(file, 'utf8')];
      const recorded = applied.get(name);
      if (recorded === undefined) await applyOnce(client, name, sql);
      else if (recorded !== sha256(sql)) throw changed(name);
    }
    await refuseLaterJournal(
      client,
      files.map((file) => basename(file)),
    );
  } finally {
    await client.end(); // which also rolls back what a failure left open
  }
}

/** One look for the common start, at which there is nothing to apply. */
async function readJournal(client: pg.Client): Promise<ReadonlyMap<string, string>> {
  const { rows } = await client.query("select to_regclass('schema_migrations') is not null as is_there");
  if (!rows[0]?.is_there) return new Map();
  const journal = await client.query('select name, sha256 from schema_migrations');
  return new Map(journal.rows.map(({ name, sha256 }) => [name, sha256]));
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const changed = (name: string) => new Error(`migration ${name} was changed after it was applied`);

/** Another process may have applied it since the journal was read. */
async function applyOnce(client: pg.Client, name: string, sql: string): Promise<void> {
  await client.query('begin');
  // Held until commit, not for the session: behind a pooler, a session is nobody's own.
  await client.query('select pg_advisory_xact_lock($1)', [MIGRATION_LOCK]);
  await client.query(journal);
  const { rows } = await client.query('select sha256 from schema_migrations where name = $1', [name]);
  if (rows[0] && rows[0].sha256 !== sha256(sql)) throw changed(name);
  if (!rows[0]) {
    await client.query(sql);
    await client.query('insert into schema_migrations (name, sha256) values ($1, $2)', [name, sha256(sql)]);
  }
  await client.query('commit');
}

/** An older release on a newer schema would write rows that the newer one does not expect. */
async function refuseLaterJournal(client: pg.Client, known: string[]): Promise<void> {
  const { rows } = await client.query('select 1 from schema_migrations where name <> all ($1) limit 1', [
    known,
  ]);
  if (rows.length > 0) throw new Error('database is newer than this release');
}
