import type { CompiledQuery, QueryResult } from 'kysely';
import pg from 'pg';
import utils from 'pg/lib/utils.js';

/** The part of the driver's queries that this module changes. Its types do not name it. */
interface DriverQuery extends pg.Submittable {
  readonly name: string;
  readonly values: unknown[];
  readonly _result: Columns;
  _accumulateRows: boolean;
  callback: (error: Error | null, result: pg.QueryResult) => void;
  prepare(connection: Connection): void;
  handleRowDescription(message: unknown): void;
}

interface Connection {
  bind(config: object): void;
  execute(config: object): void;
  sync(): void;
}

/** The columns of a statement, as the driver keeps them. */
interface Columns {
  fields: unknown;
  _parsers: unknown;
  _prebuiltEmptyResultObject: unknown;
}

const Query = pg.Query as unknown as new (config: pg.QueryConfig) => DriverQuery;

/** The columns of the statements of a connection, by their names. */
const described = new WeakMap<Connection, Map<string, Columns>>();

/** The driver's query, but for the question about its columns, which the driver asks each time. */
class DescribedOnce extends Query {
  known: Map<string, Columns> | undefined;

  override prepare(connection: Connection): void {
    this.known = described.get(connection) ?? new Map<string, Columns>();
    described.set(connection, this.known);
    const columns = this.known.get(this.name);
    if (columns) {
      Object.assign(this._result, columns);
      this._accumulateRows = true;
      connection.bind({ statement: this.name, values: this.values, valueMapper: utils.prepareValue });
      connection.execute({});
      connection.sync();
    } else {
      super.prepare(connection);
    }
  }

  override handleRowDescription(message: unknown): void {
    super.handleRowDescription(message);
    const { fields, _parsers, _prebuiltEmptyResultObject } = this._result;
    this.known?.set(this.name, { fields, _parsers, _prebuiltEmptyResultObject });
  }
}

/**
 * Runs a statement. The columns of a named one are described to each connection once: the description of a row is larger
 * than most rows. Postgres keeps the columns of a prepared statement, or refuses the statement when they change (0A000).
 */
export function queryDescribed(client: pg.PoolClient, config: pg.QueryConfig): Promise<pg.QueryResult> {
  if (config.name === undefined) return client.query(config);
  return new Promise((resolve, reject) => {
    const query = new DescribedOnce(config);
    query.callback = (error, result) => (error ? reject(error) : resolve(result));
    client.query(query);
  });
}

const known = new WeakMap<pg.ClientBase, Promise<boolean>>();

/**
 * Whether a pooler stands between a connection and Postgres: it begins a connection with a process id of its own
 * making, because the process may change. Asks once for each connection.
 */
function isPooled(client: pg.ClientBase): Promise<boolean> {
  const answer = known.get(client) ?? ask(client);
  known.set(client, answer);
  return answer;
}

async function ask(client: pg.ClientBase): Promise<boolean> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  return rows[0]?.pid !== ('processID' in client ? client.processID : undefined);
}

/** Runs look-ups, each of which finds rows by their keys and waits for no lock. */
export interface Lanes {
  run<Row>(query: CompiledQuery): Promise<QueryResult<Row>>;
}

/** A connection on which several statements are under way. Postgres answers them in their order. */
interface Lane {
  readonly client: Promise<pg.PoolClient>;
  underWay: number;
  /** The end of the last statement, where each has to wait for the one before. */
  last: Promise<unknown>;
}

/**
 * The most statements under way on a connection. A connection that hangs gets no more than these, so it falls silent,
 * and a silent connection is ended (`limitSilence`).
 */
const MAX_UNDER_WAY = 32;

/**
 * Look-ups that come together share a connection of the pool: they leave in one write, and one process of Postgres
 * answers them without a switch to another. The pool gets the connection back as soon as nothing is under way on it.
 * Behind a pooler a connection has one statement under way: PgBouncer 1.18 mixed up the bytes of several.
 */
export function createLanes(
  pool: { connect(): Promise<pg.PoolClient> },
  queryOf: (query: CompiledQuery) => pg.QueryConfig,
): Lanes {
  const lanes = new Set<Lane>();
  let most = MAX_UNDER_WAY;

  const laneWithRoom = (): Lane => {
    for (const lane of lanes) if (lane.underWay < most) return lane;
    const lane = { client: pool.connect(), underWay: 0, last: Promise.resolve() };
    lanes.add(lane);
    return lane;
  };

  const send = (client: pg.PoolClient, query: CompiledQuery, isPooled: boolean) => {
    sendTogether(client);
    const config = queryOf(query);
    return isPooled ? client.query(config) : queryDescribed(client, config);
  };

  return {
    async run(query) {
      const lane = laneWithRoom();
      lane.underWay += 1;
      try {
        const client = await lane.client;
        const pooled = await isPooled(client);
        most = pooled ? 1 : MAX_UNDER_WAY;
        const answer = pooled ? lane.last.then(() => send(client, query, true)) : send(client, query, false);
        lane.last = answer.catch(() => {}); // its caller gets the failure
        const { rows } = await answer;
        return { rows };
      } finally {
        lane.underWay -= 1;
        if (lane.underWay === 0) {
          lanes.delete(lane);
          lane.client.then((client) => client.release()).catch(() => {}); // its statements have failed
        }
      }
    },
  };
}

const corked = new WeakSet<pg.PoolClient>();

/** Keeps what a connection has to send until the end of this turn of the event loop. */
function sendTogether(client: pg.PoolClient): void {
  if (corked.has(client)) return;
  const { stream } = client.connection;
  corked.add(client);
  stream.cork();
  process.nextTick(() => {
    corked.delete(client);
    stream.uncork();
  });
}
