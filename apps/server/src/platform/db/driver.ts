import {
  type CompiledQuery,
  type DatabaseConnection,
  type Driver,
  PostgresDialect,
  type PostgresPoolClient,
  type QueryResult,
} from 'kysely';
import type pg from 'pg';
import { createLanes, type Lanes } from './lanes.ts';
import { declaredStatement } from './statement.ts';

/** The part of a pool that the driver uses. */
export interface ConnectionPool {
  readonly options: object;
  connect(): Promise<pg.PoolClient>;
  end(): Promise<void>;
}

/** Kysely's dialect, but connections prepare declared statements, and look-ups share connections. */
export class SharingDialect extends PostgresDialect {
  readonly #lanes: Lanes;
  #isOpen = false;

  /** @param prepares false for a pooler that does not keep prepared statements */
  constructor(pool: ConnectionPool, prepares: boolean) {
    const connect = async () => preparing(await pool.connect(), prepares);
    super({ pool: { options: pool.options, connect, end: () => pool.end() } });
    this.#lanes = createLanes(pool, (query) => queryOf(query.sql, query.parameters, prepares));
  }

  override createDriver(): Driver {
    const driver = sharing(super.createDriver(), this.#lanes);
    return {
      ...driver,
      init: async () => {
        await driver.init();
        this.#isOpen = true;
      },
      destroy: () => {
        this.#isOpen = false;
        return driver.destroy();
      },
    };
  }

  /** Runs look-ups. Undefined until Kysely has opened the driver, since it closes no other. */
  get shared(): Lanes['run'] | undefined {
    return this.#isOpen ? this.#lanes.run : undefined;
  }
}

function preparing(client: pg.PoolClient, prepares: boolean): PostgresPoolClient {
  const query = (text: string, values: readonly unknown[]) => client.query(queryOf(text, values, prepares));
  return {
    query: query as unknown as PostgresPoolClient['query'], // the type has a form for cursors, which nothing here uses
    release: (destroy) => client.release(destroy),
  };
}

function queryOf(text: string, values: readonly unknown[], prepares: boolean): pg.QueryConfig {
  const name = prepares ? declaredStatement(text)?.name : undefined;
  return { text, values: [...values], ...(name !== undefined && { name }) };
}

/** A session takes a connection of its own for its first statement that cannot share one. */
class Session implements DatabaseConnection {
  readonly #lanes: Lanes;
  readonly #acquire: () => Promise<DatabaseConnection>;
  own: DatabaseConnection | undefined;

  constructor(lanes: Lanes, acquire: () => Promise<DatabaseConnection>) {
    this.#lanes = lanes;
    this.#acquire = acquire;
  }

  async needOwn(): Promise<DatabaseConnection> {
    this.own ??= await this.#acquire();
    return this.own;
  }

  async executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    if (!this.own && declaredStatement(query.sql)?.isLookUp) return this.#lanes.run(query);
    return (await this.needOwn()).executeQuery(query);
  }

  streamQuery(): never {
    throw new Error('The service reads in pages.');
  }
}

function sharing(driver: Driver, lanes: Lanes): Driver {
  const sessionOf = (connection: DatabaseConnection): Session => {
    if (connection instanceof Session) return connection;
    throw new Error('The connection is of another driver.');
  };
  return {
    init: () => driver.init(),
    acquireConnection: async () => new Session(lanes, () => driver.acquireConnection()),
    // The driver says both through the session, where a log hears them.
    beginTransaction: (connection, settings) => driver.beginTransaction(connection, settings),
    commitTransaction: (connection) => driver.commitTransaction(connection),
    // A connection that cannot roll back is thrown away, which its own driver does.
    rollbackTransaction: async (connection) =>
      driver.rollbackTransaction(await sessionOf(connection).needOwn()),
    async releaseConnection(connection) {
      const { own } = sessionOf(connection);
      if (own) await driver.releaseConnection(own);
    },
    destroy: () => driver.destroy(),
  };
}
