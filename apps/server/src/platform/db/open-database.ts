import { Socket } from 'node:net';
import { CamelCasePlugin, Kysely, type PluginTransformResultArgs, sql } from 'kysely';
import pg from 'pg';
import { type Meter, noMeter, type PoolCounts } from '../telemetry/meter.ts';
import type { Tracer } from '../telemetry/tracer.ts';
import { listenToCommits } from './commit-effects.ts';
import type { CommitNotices } from './commit-notices.ts';
import type { Executor } from './db.ts';
import { type ConnectionPool, SharingDialect } from './driver.ts';
import { requirePrimary } from './standby.ts';
import { isOfStatement } from './statement.ts';
import { parseStored } from './stored-json.ts';
import { traceStatements } from './traced.ts';
import type { DB } from './types.gen.ts';

export type ConnectionOptions = Pick<pg.PoolConfig, 'connectionString' | 'ssl'>;

// All in milliseconds.
const CONNECT_TIMEOUT = 30_000;
const LONGEST_SILENCE = 10_000; // without a byte from Postgres while a caller waits
// An idle connection stays for the next busy minute: a new one has to log in and to plan every function.
const LONGEST_IDLE = 300_000;

interface PoolOptions {
  readonly connect?: number;
  readonly silence?: number;
  readonly idle?: number;
}

interface Watching {
  readonly meter?: Meter;
  readonly tracer?: Tracer | undefined;
  /** Learns whose events were committed. */
  readonly notices?: CommitNotices | undefined;
}

interface Preparing {
  /** Whether connections prepare the statements of the request path, which some poolers cannot. */
  readonly prepares?: boolean | undefined;
}

/** @param poolSize the most connections at once */
export function openDatabase(
  options: ConnectionOptions,
  poolSize = 10,
  meter: Meter = noMeter,
  { tracer, notices, prepares, ...further }: PoolOptions & Omit<Watching, 'meter'> & Preparing = {},
): Executor {
  return databaseOver(openPool(options, poolSize, further), { meter, tracer, notices, prepares });
}

export function openPool(
  options: ConnectionOptions,
  size: number,
  { connect = CONNECT_TIMEOUT, silence = LONGEST_SILENCE, idle = LONGEST_IDLE }: PoolOptions = {},
): pg.Pool {
  const pool = new pg.Pool({
    ...options,
    max: size,
    connectionTimeoutMillis: connect,
    idleTimeoutMillis: idle,
    types,
    onConnect: (client) => {
      endWhenSilent(client, silence);
      return requirePrimary(client);
    },
    pipeline: true, // a lane sends a statement before the last one is answered
  });
  limitSilence(pool, silence);
  // The pool replaces a lost connection, and its statement fails for the caller. Without listeners the loss
  // would end the process: the pool's own listener hears idle connections only.
  pool.on('error', () => {});
  pool.on('connect', (client) => void client.on('error', () => {}));
  return pool;
}

/** The database ends its pool when it is destroyed. */
export function databaseOver(
  pool: ConnectionPool & PoolCounts,
  { meter = noMeter, tracer, notices, prepares = true }: Watching & Preparing = {},
): Executor {
  meter.poolOpened(pool);
  const db = new Kysely<DB>({
    dialect: new SharingDialect(pool, prepares),
    plugins: [new ColumnNames()],
    ...(tracer && { log: traceStatements(tracer) }),
  });
  listenToCommits(db, ({ tallies, eventsOf }) => {
    meter.committed(tallies);
    if (eventsOf !== undefined) notices?.notify([eventsOf]);
  });
  return db;
}

/** Makes the columns of the builder's queries camelCase. A declared statement names its columns itself. */
class ColumnNames extends CamelCasePlugin {
  constructor() {
    super({ maintainNestedObjectKeys: true }); // members inside jsonb values belong to the client
  }

  override async transformResult(args: PluginTransformResultArgs) {
    return isOfStatement(args.queryId) ? args.result : super.transformResult(args);
  }
}

/**
 * A Postgres that hangs counts as away. The connection ends with the statement: a statement that is given up
 * alone could leave a transaction open, and the connection's next user would write into it.
 */
function limitSilence(pool: pg.Pool, silence: number): void {
  pool.on('acquire', (client) => void socketOf(client)?.setTimeout(silence));
  pool.on('release', (_error, client) => void socketOf(client)?.setTimeout(0));
}

/** Before the first query of a connection. */
function endWhenSilent(client: pg.ClientBase, silence: number): void {
  const socket = client instanceof pg.Client ? socketOf(client)?.setTimeout(silence) : undefined;
  socket?.on('timeout', () => {
    socket.destroy(Object.assign(new Error('Postgres does not answer.'), { code: 'ETIMEDOUT' }));
  });
}

/**
 * With TLS the stream is a socket too. The library's type allows any stream, because a caller may give one.
 */
function socketOf({ connection: { stream } }: Pick<pg.Client, 'connection'>): Socket | undefined {
  return stream instanceof Socket ? stream : undefined;
}

const JSON_TYPES: ReadonlySet<number> = new Set([pg.types.builtins.JSON, pg.types.builtins.JSONB]);

const types: pg.CustomTypesConfig = {
  getTypeParser: (type: number, format?: 'text' | 'binary') =>
    JSON_TYPES.has(type) && format !== 'binary' ? parseStored : pg.types.getTypeParser(type, format),
};

const OLDEST_SERVER = 15;

/** @throws when the database does not answer, or is older than the migrations need */
export async function requireServer(db: Executor): Promise<void> {
  const asked = sql<{ number: string }>`select current_setting('server_version_num') as number`;
  const { rows } = await asked.execute(db);
  const major = Math.floor(Number(rows[0]?.number) / 10_000); // 150004 is 15.4
  if (!(major >= OLDEST_SERVER)) {
    throw new Error(`PostgreSQL ${OLDEST_SERVER} or later is needed, and this is ${major}`);
  }
}
