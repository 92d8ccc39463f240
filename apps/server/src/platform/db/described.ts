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
