import { Socket } from 'node:net';
import { parseJsonText } from '@behest/protocol/json';
import { CamelCasePlugin, Kysely, type Logger, type PluginTransformResultArgs, sql } from 'kysely';
import pg from 'pg';
import { type Meter, noMeter, type PoolCounts } from '../telemetry/meter.ts';
import type { Call, Tracer } from '../telemetry/tracing.ts';
import { type CommitNotices, listenToCommits } from './commit-effects.ts';
import type { Executor } from './db.ts';
import { type ConnectionPool, SharingDialect } from './driver.ts';
import { isOfStatement, shareLookUps } from './statement.ts';
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
  const dialect = new SharingDialect(pool, prepares);
  const db = new Kysely<DB>({
    dialect,
    plugins: [new ColumnNames()],
    ...(tracer && { log: traceStatements(tracer) }),
  });
  if (!tracer) shareLookUps(db, () => dialect.shared); // Kysely times the statements of a trace
  listenToCommits(db, ({ tallies, eventsOf, entriesOf }) => {
    meter.committed(tallies);
    if (entriesOf !== undefined) notices?.notifyOfEntries(entriesOf);
    if (eventsOf !== undefined) notices?.notify([eventsOf], tallies);
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

/**
 * A list is read in the order of its index, row by row. While Postgres takes the table for small, it would read all rows
 * of the developer to sort them, and it keeps such a plan while the table grows.
 */
const ASK_AND_SET = `select pg_is_in_recovery() as "isStandby", set_config('enable_seqscan', 'off', false),
  set_config('enable_bitmapscan', 'off', false)`;

/**
 * For a new connection, which the pool then forgets. During a fail-over the address of the primary may lead to a standby
 * for a while, whose reads are of the past. A token that was just revoked would be good there. The function asks, because a
 * pooler may repeat the `in_hot_standby` of another server.
 * @throws on a standby, with the code of a refused write
 * @see https://github.com/pgbouncer/pgbouncer/issues/859
 */
export async function requirePrimary(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query(ASK_AND_SET);
  if (!rows[0]?.isStandby) return;
  throw Object.assign(new Error('The server of the database is a standby.'), { code: '25006' });
}

/** A log of statements that makes a span of each: its text, which numbers the values, and no value. */
function traceStatements(tracer: Tracer): Logger {
  return (statement) => {
    const failure = statement.level === 'error' ? { error: statement.error } : undefined;
    tracer.called(callOf(statement.query.sql), statement.queryDurationMillis, failure);
  };
}

/** The statement's verb, and the first table or function that it names. */
function callOf(text: string): Call {
  const [verb = ''] = /^\w+/.exec(text.trimStart()) ?? [];
  const [, target] = TABLE.exec(text) ?? FUNCTION.exec(text) ?? [];
  return {
    name: target ? `${verb} ${target}` : verb,
    attributes: { 'db.system.name': 'postgresql', 'db.operation.name': verb, 'db.query.text': text },
  };
}

const TABLE = /(?:^update|\sfrom|\sinto)\s+"?(\w+)/i;
const FUNCTION = /^\s*select\s+(\w+)\s*\(/i;

/**
 * Reads JSON that the database holds, whose members have different names. `JSON.parse` of this Node can take an escaped
 * member name for another one, and an audit entry would then not have the hash it has, so a text with escapes is read by
 * the parser of requests, which is slower.
 * @see https://github.com/nodejs/node/issues/63785
 */
export function parseStored(text: string): unknown {
  return text.includes('\\') ? parseJsonText(text) : JSON.parse(text);
}
