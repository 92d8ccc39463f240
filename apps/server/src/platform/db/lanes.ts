import type { CompiledQuery, QueryResult } from 'kysely';
import pg from 'pg';
import utils from 'pg/lib/utils.js';

/** The parts of the driver that this module uses. Its types do not name them. */
interface DriverQuery extends pg.Submittable {
  readonly name: string;
  readonly _result: Columns;
  callback: Answered;
  handleRowDescription(message: unknown): void;
}

interface Connection {
  readonly stream: { write(bytes: Buffer): boolean };
  bind(config: object): void;
}

/** The columns of a statement, as the driver keeps them. */
interface Columns {
  readonly fields: readonly { readonly name: string }[];
  readonly _parsers: readonly ((text: string) => unknown)[];
  readonly _prebuiltEmptyResultObject: Readonly<Record<string, null>>;
}

interface Found {
  readonly rows: object[];
}

type Answered = (error: unknown, found?: Found) => void;

const Query = pg.Query as unknown as new (config: pg.QueryConfig) => DriverQuery;

/** The columns of the statements of a connection, by their names. */
const columnsOf = new WeakMap<object, Map<string, Columns>>();

/** The driver's query, which remembers its columns. */
class Describing extends Query {
  readonly #known: Map<string, Columns>;

  constructor(config: pg.QueryConfig, known: Map<string, Columns>) {
    super(config);
    this.#known = known;
  }

  override handleRowDescription(message: unknown): void {
    super.handleRowDescription(message);
    const { fields, _parsers, _prebuiltEmptyResultObject } = this._result;
    this.#known.set(this.name, { fields, _parsers, _prebuiltEmptyResultObject });
  }
}

/** Executes what was bound, without a limit of rows, and ends the statement. */
const EXECUTE_AND_SYNC = Buffer.from([0x45, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0x53, 0, 0, 0, 4]);

/**
 * A prepared statement whose columns are known. It takes the place of the driver's query, without the events of it that
 * nothing hears, and without the question about its columns, which the driver asks each time.
 */
class Described {
  readonly name: string;
  readonly text: string;
  readonly values: unknown[];
  readonly callback: Answered;
  readonly #columns: Columns;
  readonly #rows: object[] = [];
  #failure: { readonly error: unknown } | undefined;

  constructor({ name = '', text, values = [] }: pg.QueryConfig, columns: Columns, callback: Answered) {
    this.name = name;
    this.text = text;
    this.values = values;
    this.#columns = columns;
    this.callback = callback;
  }

  submit(connection: Connection): void {
    connection.bind({ statement: this.name, values: this.values, valueMapper: utils.prepareValue });
    connection.stream.write(EXECUTE_AND_SYNC);
  }

  handleDataRow({ fields }: { readonly fields: readonly (string | null)[] }): void {
    if (this.#failure) return;
    const { fields: columns, _parsers: parsers, _prebuiltEmptyResultObject: empty } = this.#columns;
    const row: Record<string, unknown> = { ...empty };
    try {
      for (let at = 0; at < columns.length; at += 1) {
        const text = fields[at] ?? null;
        if (text !== null) row[columns[at]?.name ?? ''] = parsers[at]?.(text);
      }
      this.#rows.push(row);
    } catch (error) {
      this.#failure = { error };
    }
  }

  handleCommandComplete(): void {}

  handleError(error: unknown): void {
    this.callback(this.#failure?.error ?? error);
  }

  handleReadyForQuery(): void {
    if (this.#failure) this.callback(this.#failure.error);
    else this.callback(null, { rows: this.#rows });
  }
}

// The client takes no other class for a query that shares a connection.
Object.setPrototypeOf(Described.prototype, pg.Query.prototype);

/**
 * Runs a statement. The columns of a named one are described to each connection once: the description of a row is larger
 * than most rows. Postgres keeps the columns of a prepared statement, or refuses the statement when they change (0A000).
 */
export function queryDescribed(
  client: pg.PoolClient,
  config: pg.QueryConfig,
  onEnd: () => void = () => {},
): Promise<Found> {
  return new Promise((resolve, reject) => {
    const answered: Answered = (error, found) => {
      onEnd();
      if (found) resolve(found);
      else reject(error);
    };
    try {
      if (config.name === undefined) {
        client.query(config).then((found) => answered(null, found), answered);
      } else {
        client.query(described(client, config, answered));
      }
    } catch (error) {
      answered(error); // a value that cannot be sent
    }
  });
}

function described(client: pg.PoolClient, config: pg.QueryConfig, answered: Answered): pg.Submittable {
  const known = columnsOf.get(client.connection) ?? new Map<string, Columns>();
  columnsOf.set(client.connection, known);
  const columns = known.get(config.name ?? '');
  const query = columns
    ? new Described(config, columns, answered)
    : Object.assign(new Describing(config, known), { callback: answered });
  return query as pg.Submittable; // `Described` has the methods of the driver's query, which the compiler does not see
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
  /** The client, once it is known to be connected to Postgres itself. */
  direct: pg.PoolClient | undefined;
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
    const lane = { client: pool.connect(), direct: undefined, underWay: 0, last: Promise.resolve() };
    lanes.add(lane);
    return lane;
  };

  const leave = (lane: Lane) => {
    lane.underWay -= 1;
    if (lane.underWay > 0) return;
    lanes.delete(lane);
    lane.client.then((client) => client.release()).catch(() => {}); // its statements have failed
  };

  /** Sends a statement behind those that are under way. */
  const share = <Row>(lane: Lane, client: pg.PoolClient, query: CompiledQuery) => {
    sendTogether(client);
    // The rows are those of the statement, which has their type.
    return queryDescribed(client, queryOf(query), () => leave(lane)) as Promise<QueryResult<Row>>;
  };

  const runLater = async <Row>(lane: Lane, query: CompiledQuery): Promise<QueryResult<Row>> => {
    let isShared = false;
    try {
      const client = await lane.client;
      const pooled = await isPooled(client);
      most = pooled ? 1 : MAX_UNDER_WAY;
      if (!pooled) {
        lane.direct = client;
        isShared = true;
        return await share(lane, client, query);
      }
      const answer = lane.last.then(() => {
        sendTogether(client);
        return client.query(queryOf(query));
      });
      lane.last = answer.catch(() => {}); // its caller gets the failure
      const { rows } = await answer;
      return { rows };
    } finally {
      if (!isShared) leave(lane);
    }
  };

  return {
    run<Row>(query: CompiledQuery) {
      const lane = laneWithRoom();
      lane.underWay += 1;
      return lane.direct ? share<Row>(lane, lane.direct, query) : runLater<Row>(lane, query);
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
