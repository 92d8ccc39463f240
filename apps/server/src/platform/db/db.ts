import { Socket } from 'node:net';
import { parseJsonText } from '@behest/protocol/json';
import { CamelCasePlugin, Kysely, PostgresDialect, sql, type Transaction } from 'kysely';
import pg from 'pg';
import { type Meter, noMeter } from '../telemetry/meter.ts';
import type { Tracer } from '../telemetry/tracer.ts';
import type { CommitNotices } from './commit-notices.ts';
import { countCommits } from './counted.ts';
import { traceStatements } from './traced.ts';
import type { DB } from './types.gen.ts';

/** A pool or a transaction: enough to read with. */
export type Executor = Kysely<DB>;

/** A transaction and nothing else. Writing takes one, so a write outside it does not compile. */
export type Tx = Transaction<DB>;

export type DatabaseOptions = Pick<pg.PoolConfig, 'connectionString' | 'ssl'>;

// Both in milliseconds.
const CONNECT_TIMEOUT = 30_000; // specification, Runtime configuration and operation
const LONGEST_SILENCE = 10_000; // of Postgres on a connection that somebody waits for

interface FurtherOptions {
  readonly connect?: number;
  readonly silence?: number;
  readonly tracer?: Tracer | undefined;
  /** Told whose events were committed. */
  readonly notices?: CommitNotices;
}

/** @param poolSize the most connections at once; specification, the same place. */
export function openDatabase(
  options: DatabaseOptions,
  poolSize = 10,
  meter: Meter = noMeter,
  { connect = CONNECT_TIMEOUT, silence = LONGEST_SILENCE, tracer, notices }: FurtherOptions = {},
): Executor {
  const pool = new pg.Pool({ ...options, max: poolSize, connectionTimeoutMillis: connect, types });
  limitSilence(pool, silence);
  // A lost connection is replaced by the pool, and whoever waited on it is told by its statement. Without listeners
  // it would end the process: the pool's own is there for idle connections only.
  pool.on('error', () => {});
  pool.on('connect', (client) => void client.on('error', () => {}));
  meter.poolOpened(pool);
  return new Kysely<DB>({
    dialect: new PostgresDialect({
      pool,
      onCreateConnection: async (connection) => {
        countCommits(connection, (committed) => {
          meter.committed(committed.flatMap(({ tallies }) => tallies));
          notices?.tell(committed.flatMap(({ eventsOf }) => eventsOf ?? []));
        });
        if (tracer) traceStatements(connection, tracer);
      },
    }),
    // Columns become camelCase; the insides of jsonb values are the client's and stay as they are.
    plugins: [new CamelCasePlugin({ maintainNestedObjectKeys: true })],
  });
}

/**
 * A Postgres that hangs is one that is away. The connection is ended with the statement: a statement given up by
 * itself could leave a transaction open, for whoever gets the connection next to write into.
 */
function limitSilence(pool: pg.Pool, silence: number): void {
  pool.on('connect', (client) => {
    const socket = socketOf(client);
    socket?.on('timeout', () => {
      socket.destroy(Object.assign(new Error('Postgres does not answer.'), { code: 'ETIMEDOUT' }));
    });
  });
  pool.on('acquire', (client) => void socketOf(client)?.setTimeout(silence));
  pool.on('release', (_error, client) => void socketOf(client)?.setTimeout(0));
}

/** With TLS a socket too. The library's type is of any stream, as one may be given to it. */
function socketOf({ connection: { stream } }: pg.PoolClient): Socket | undefined {
  return stream instanceof Socket ? stream : undefined;
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

/** How often work is done that keeps losing a race. */
export const ATTEMPTS = 4;
const LOST_A_RACE = new Set(['40001', '40P01']); // serialization failure, deadlock

/**
 * Commits what `work` did, or nothing of it. May do it again, so `work` must have no effect outside, but what it
 * hands to `afterCommit`. Keep slow things (HTTP, key generation, signing) before it. In a transaction that is open
 * already it is undone alone, and committed with the rest.
 */
export function inTransaction<T>(db: Executor, work: (tx: Tx) => Promise<T>): Promise<T> {
  if (isTx(db)) return inSavepoint(db, work);
  return repeating(db, async () => {
    const afterwards: AfterCommit[] = [];
    const result = await db.transaction().execute((tx) => {
      opened.set(tx, { afterwards, depth: 0 });
      return work(tx);
    });
    await runAll(afterwards);
    return result;
  });
}

/**
 * For a hot write, which is a transaction by itself: does it again when it was the loser of a race. In a larger
 * transaction, the loser is all of that, so whoever opened it has to begin again.
 */
export async function repeating<T>(db: Executor, work: () => Promise<T>): Promise<T> {
  const attempts = isTx(db) ? 1 : ATTEMPTS;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (attempt === attempts || !isLostRace(error)) throw error;
    }
  }
}

type AfterCommit = () => void | Promise<void>;

/**
 * Does what Postgres cannot undo (a mail, a message to other instances) once everything written so far is
 * committed: at once where `db` is a pool. What is rolled back takes with it what was to come after. `work` has to
 * see to its own failures, since nothing can be refused any more.
 */
export async function afterCommit(db: Executor, work: AfterCommit): Promise<void> {
  if (isTx(db)) openedBy(db).afterwards.push(work);
  else await work();
}

/** A transaction that is open for longer than one function: whoever opens it has to end it. */
export interface OpenTransaction {
  readonly tx: Tx;
  /** Then does what was left for after it. */
  commit(): Promise<void>;
  rollback(): Promise<void>;
}

export async function openTransaction(db: Executor): Promise<OpenTransaction> {
  const tx = await db.startTransaction().execute();
  const afterwards: AfterCommit[] = [];
  opened.set(tx, { afterwards, depth: 0 });
  return {
    tx,
    async commit() {
      try {
        await tx.commit().execute();
      } catch (error) {
        await tx
          .rollback()
          .execute()
          .catch(() => {}); // gives the connection back; of the two failures the first is the one to tell of
        throw error;
      }
      await runAll(afterwards);
    },
    rollback: () => tx.rollback().execute(),
  };
}

interface Opened {
  readonly afterwards: AfterCommit[];
  /** How many savepoints are held, one in another. */
  depth: number;
}

/** Of each open transaction, what is known here beside what Kysely knows. */
const opened = new WeakMap<Executor, Opened>();

function openedBy(tx: Tx): Opened {
  const found = opened.get(tx);
  if (!found) throw new Error('Open transactions with inTransaction or openTransaction.');
  return found;
}

const isTx = (db: Executor): db is Tx => db.isTransaction;

/** No savepoint is released: the next at its depth takes its place, and the commit ends all of them. */
async function inSavepoint<T>(tx: Tx, work: (tx: Tx) => Promise<T>): Promise<T> {
  const state = openedBy(tx);
  const before = state.afterwards.length;
  state.depth += 1;
  const name = sql.id(`depth_${state.depth}`);
  try {
    await sql`savepoint ${name}`.execute(tx);
    return await work(tx);
  } catch (error) {
    state.afterwards.length = before;
    // Of a connection that is lost nothing stands, and the failure to tell of is the first one.
    await sql`rollback to savepoint ${name}`.execute(tx).catch(() => {});
    throw error;
  } finally {
    state.depth -= 1;
  }
}

async function runAll(works: readonly AfterCommit[]): Promise<void> {
  for (const work of works) await work();
}

/** @throws when the database does not answer. */
export async function ping(db: Executor): Promise<void> {
  await sql`select 1`.execute(db);
}

const OLDEST_SERVER = 15;

/** @throws when the database does not answer, and when it is older than what the migrations are written for. */
export async function requireServer(db: Executor): Promise<void> {
  const asked = sql<{ number: string }>`select current_setting('server_version_num') as number`;
  const { rows } = await asked.execute(db);
  const major = Math.floor(Number(rows[0]?.number) / 10_000); // 150004 is 15.4
  if (!(major >= OLDEST_SERVER)) {
    throw new Error(`PostgreSQL ${OLDEST_SERVER} or later is needed, and this is ${major}`);
  }
}

/** A row as JSON with the columns' own names, which is how a hot function takes it. */
export function row(columns: Readonly<Record<string, unknown>>): string {
  const named = Object.entries(columns).map(([name, value]) => [
    name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    Buffer.isBuffer(value) ? `\\x${value.toString('hex')}` : value,
  ]);
  return JSON.stringify(Object.fromEntries(named));
}

/** Whether Postgres ended a transaction in favour of another one. */
export const isLostRace = (error: unknown) => LOST_A_RACE.has(codeOf(error));

/** Whether a failure means that Postgres is down, and not that a statement of ours is wrong. */
export function isDatabaseAway(error: unknown): boolean {
  return (
    /^(ECONN|ENOTFOUND|ENETUNREACH|EHOSTUNREACH|EAI_AGAIN|ETIMEDOUT|EPIPE|08|53|57P0)/.test(codeOf(error)) ||
    /timeout exceeded|Connection terminated|connection error/.test(String(error))
  );
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}
