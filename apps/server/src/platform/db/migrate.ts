import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { VERSION } from '../version.ts';
import { applyFunctions, isPending, type KnownFunction, readFunctions, standsSince } from './functions.ts';
import type { ConnectionOptions } from './open-database.ts';

/** Any constant will do, as long as every process of the product uses the same. */
export const MIGRATION_LOCK = 0x6265_6865;
const LOOK_TIMEOUT = 5_000; // milliseconds; an operator waits
const journals = `create table if not exists schema_migrations (
    name text primary key, sha256 text not null, applied_at timestamptz not null default now());
  create table if not exists schema_functions (
    name text primary key, sha256 text not null, signature text not null, release text not null, left_by text,
    applied_at timestamptz not null default now())`;

/** The files of a release's schema. */
export interface SchemaSource {
  /** The folder of the `NNN_name.sql`. */
  readonly migrations: string;
  /** The folder of the sources, with `*.sql` of functions at any depth. */
  readonly functions: string;
  readonly release: string;
}

const OWN: SchemaSource = {
  migrations: `${import.meta.dirname}/../../../migrations`,
  functions: `${import.meta.dirname}/../..`,
  release: VERSION,
};

interface Migration {
  readonly name: string;
  readonly text: string;
  readonly sha256: string;
}

interface Journals {
  /** The checksum of each migration that was applied, by its name. */
  readonly migrations: ReadonlyMap<string, string>;
  readonly functions: readonly KnownFunction[];
}

/**
 * Applies each `NNN_name.sql` that the journal lacks, in order, each in its own transaction; then all
 * functions that differ from this release, in one transaction. Many processes may start at once.
 * @throws when a file was edited after it was applied, or the database has had a later release.
 */
export async function migrate(options: ConnectionOptions, source: Partial<SchemaSource> = {}): Promise<void> {
  const { migrations: folder, functions: sources, release } = { ...OWN, ...source };
  const migrations = readMigrations(folder);
  const functions = readFunctions(sources);
  const client = new pg.Client(options);
  await client.connect();
  try {
    const known = await readJournals(client);
    refuse(faultOf(known, migrations, release));
    const missing = pendingOf(known, migrations);
    for (const migration of missing) await inLock(client, () => applyOnce(client, migration));
    if (missing.length > 0 || isPending(functions, known.functions, release)) {
      await inLock(client, async () => {
        const current = await readJournals(client);
        refuse(laterOf(current, migrations, release));
        await applyFunctions(client, functions, current.functions, release);
      });
    }
    await analyzeTables(client, missing.length > 0);
  } finally {
    await client.end(); // which also rolls back open work after a failure
  }
}

/**
 * Gathers statistics of the tables that have rows and no statistics, as after a restore, or of all that have rows. Autovacuum
 * would come to them within minutes, in which Postgres guesses how many rows a search finds.
 */
async function analyzeTables(client: pg.Client, all: boolean): Promise<void> {
  await client.query("set lock_timeout = '2s'"); // a start does not wait for a table that somebody else holds
  try {
    const { rows } = await client.query<{ name: string }>(
      `select format('%I', relname) as name from pg_class
       where relnamespace = 'public'::regnamespace and relkind = 'r' and pg_relation_size(oid) > 0
         and ($1 or reltuples = -1) order by relname`,
      [all],
    );
    for (const { name } of rows) await client.query(['analyze (skip_locked)', name].join(' '));
  } catch (error) {
    if (Object(error).code !== LOCK_NOT_AVAILABLE) throw error; // autovacuum comes to the tables later
  } finally {
    await client.query('reset lock_timeout');
  }
}

const LOCK_NOT_AVAILABLE = '55P03';

/** The schema of a database beside that of this release. */
export interface SchemaLook {
  /** How many migrations were applied. */
  readonly applied: number;
  /** The names of the migrations that the next start applies. */
  readonly pending: readonly string[];
  readonly hasPendingFunctions: boolean;
  /** The reason why the next start would refuse the database. */
  readonly fault: string | undefined;
}

/** Compares a database with this release, and changes nothing. @throws when it does not answer */
export async function lookAtSchema(options: ConnectionOptions): Promise<SchemaLook> {
  const { migrations: folder, functions: sources, release } = OWN;
  const migrations = readMigrations(folder);
  const client = new pg.Client({ ...options, connectionTimeoutMillis: LOOK_TIMEOUT });
  await client.connect();
  try {
    const known = await readJournals(client);
    return {
      applied: known.migrations.size,
      pending: pendingOf(known, migrations).map(({ name }) => name),
      hasPendingFunctions: isPending(readFunctions(sources), known.functions, release),
      fault: faultOf(known, migrations, release)?.message,
    };
  } finally {
    await client.end();
  }
}

const pendingOf = (known: Journals, migrations: readonly Migration[]) =>
  migrations.filter(({ name }) => !known.migrations.has(name));

function readMigrations(folder: string): Migration[] {
  return readdirSync(folder)
    .filter((name) => /^[0-9].*\.sql$/.test(name))
    .sort()
    .map((name) => {
      const text = readFileSync(join(folder, name), 'utf8');
      return { name, text, sha256: createHash('sha256').update(text).digest('hex') };
    });
}

/** Reads the journals without a lock. A common start finds nothing to apply. */
async function readJournals(client: pg.Client): Promise<Journals> {
  const { rows } = await client.query("select to_regclass('schema_functions') is not null as is_there");
  if (!rows[0]?.is_there) return { migrations: new Map(), functions: [] };
  const migrations = await client.query('select name, sha256 from schema_migrations');
  const functions = await client.query(
    'select name, sha256, signature, release, left_by as "leftBy" from schema_functions',
  );
  return {
    migrations: new Map(migrations.rows.map(({ name, sha256 }) => [name, sha256])),
    functions: functions.rows,
  };
}

const changed = (name: string) => new Error(`migration ${name} was changed after it was applied`);

/** Behind a pooler a session may serve other clients too, so the lock is held until the commit. */
async function inLock(client: pg.Client, work: () => Promise<void>): Promise<void> {
  await client.query('begin');
  await client.query('select pg_advisory_xact_lock($1)', [MIGRATION_LOCK]);
  await client.query(journals);
  await work();
  await client.query('commit');
}

/** Another process may have applied it since the journal was read. */
async function applyOnce(client: pg.Client, { name, text, sha256 }: Migration): Promise<void> {
  const { rows } = await client.query('select sha256 from schema_migrations where name = $1', [name]);
  if (rows[0] && rows[0].sha256 !== sha256) throw changed(name);
  if (rows[0]) return;
  await client.query(text);
  await client.query('insert into schema_migrations (name, sha256) values ($1, $2)', [name, sha256]);
}

/** The reason why this release must not work with the database. */
function faultOf(known: Journals, migrations: readonly Migration[], release: string): Error | undefined {
  for (const { name, sha256 } of migrations) {
    if (known.migrations.has(name) && known.migrations.get(name) !== sha256) return changed(name);
  }
  return laterOf(known, migrations, release);
}

/** An older release on a newer schema would write rows that the newer one does not expect. */
function laterOf(known: Journals, migrations: readonly Migration[], release: string): Error | undefined {
  const own = new Set(migrations.map(({ name }) => name));
  const hasLaterTables = [...known.migrations.keys()].some((name) => !own.has(name));
  return hasLaterTables || standsSince(known.functions, release)
    ? new Error('database is newer than this release')
    : undefined;
}

function refuse(fault: Error | undefined): void {
  if (fault) throw fault;
}
