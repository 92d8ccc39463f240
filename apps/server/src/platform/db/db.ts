import { parseJsonText } from '@behest/protocol/json';
import { CamelCasePlugin, Kysely, PostgresDialect, sql, type Transaction } from 'kysely';
import pg from 'pg';
import type { DB } from './types.gen.ts';

/** A pool or a transaction: enough to read with. */
export type Executor = Kysely<DB>;

/** A transaction and nothing else. Writing takes one, so a write outside it does not compile. */
export type Tx = Transaction<DB>;

export type DatabaseOptions = Pick<pg.PoolConfig, 'connectionString' | 'ssl'>;

const CONNECT_TIMEOUT = 30_000; // milliseconds; specification, Runtime configuration and operation

/** @param poolSize the most connections at once; specification, the same place. */
export function openDatabase(options: DatabaseOptions, poolSize = 10): Executor {
  const settings = { ...options, max: poolSize, connectionTimeoutMillis: CONNECT_TIMEOUT, types };
  const pool = new pg.Pool(settings);
  // A connection lost while idle is replaced by the pool; without a listener it would end the process.
  pool.on('error', () => {});
  return new Kysely<DB>({
    dialect: new PostgresDialect({ pool }),
    // Columns become camelCase; the insides of jsonb values are the client's and stay as they are.
    plugins: [new CamelCasePlugin({ maintainNestedObjectKeys: true })],
  });
}

const JSON_TYPES: ReadonlySet<number> = new Set([pg.types.builtins.JSON, pg.types.builtins.JSONB]);

/**
 * Stored JSON is read by the parser that read it on its way in. `JSON.parse` of this Node can take an escaped
 * member name for another one, and an audit entry would then not have the hash it has.
 * @see https://github.com/nodejs/node/issues/63785
 */
const types: pg.CustomTypesConfig = {
  getTypeParser: (type: number, format?: 'text' | 'binary') =>
    JSON_TYPES.has(type) && format !== 'binary' ? parseJsonText : pg.types.getTypeParser(type, format),
};

const ATTEMPTS = 4;
const LOST_A_RACE = new Set(['40001', '40P01']); // serialization failure, deadlock

/**
 * Commits what `work` did, or nothing of it. May do it again, so `work` must have no effect outside. Keep
 * slow things (HTTP, key generation, signing) before it.
 */
export function inTransaction<T>(db: Executor, work: (tx: Tx) => Promise<T>): Promise<T> {
  return repeating(() => db.transaction().execute(work));
}

/** For a hot write, which is a transaction by itself: does it again when it was the loser of a race. */
export async function repeating<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (attempt === ATTEMPTS || !LOST_A_RACE.has(codeOf(error))) throw error;
    }
  }
}

/** @throws when the database does not answer. */
export async function ping(db: Executor): Promise<void> {
  await sql`select 1`.execute(db);
}

/** A row as JSON with the columns' own names, which is how a hot function takes it. */
export function row(columns: Readonly<Record<string, unknown>>): string {
  const named = Object.entries(columns).map(([name, value]) => [
    name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    Buffer.isBuffer(value) ? `\\x${value.toString('hex')}` : value,
  ]);
  return JSON.stringify(Object.fromEntries(named));
}

/** Whether a failure means that Postgres is down, and not that a statement of ours is wrong. */
export function isDatabaseAway(error: unknown): boolean {
  return (
    /^(ECONN|ENOTFOUND|ENETUNREACH|EHOSTUNREACH|EAI_AGAIN|ETIMEDOUT|EPIPE|08|53|57P0)/.test(codeOf(error)) ||
    /timeout exceeded|Connection terminated/.test(String(error))
  );
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}
