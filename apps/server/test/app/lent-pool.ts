import { type ConnectionOptions, openPool } from '../../src/platform/db/open-database.ts';

export const CONNECTIONS = 8;
const IDLE = 10_000; // milliseconds, after which the databases of other files need the place

const pools = new Map<string, ReturnType<typeof openPool>>();

/**
 * The connections to a file's database, which its applications use one after the other. A new connection has
 * to read the catalog and compile the functions, which costs Postgres more than most tests do.
 */
export function lentPool(options: ConnectionOptions & { readonly connectionString: string }) {
  const pool = pools.get(options.connectionString) ?? openPool(options, CONNECTIONS, { idle: IDLE });
  pools.set(options.connectionString, pool);
  return {
    connect: () => pool.connect(),
    end: async () => {}, // an application only gives the pool back
    options: pool.options,
    get totalCount() {
      return pool.totalCount;
    },
    get idleCount() {
      return pool.idleCount;
    },
    get waitingCount() {
      return pool.waitingCount;
    },
  };
}
