import { type ConnectionOptions, openPool } from '../../src/platform/db/open-database.ts';

const CONNECTIONS = 8;

const pools = new Map<string, ReturnType<typeof openPool>>();

/**
 * The connections to a file's database, for one application after the other: a connection has read the catalog and
 * compiled the functions by the time that it is of use, and that costs Postgres more than most tests do. The pool
 * itself ends a connection that is idle for ten seconds.
 */
export function lentPool(options: ConnectionOptions & { readonly connectionString: string }) {
  const pool = pools.get(options.connectionString) ?? openPool(options, CONNECTIONS);
  pools.set(options.connectionString, pool);
  return {
    connect: () => pool.connect(),
    end: async () => {}, // an application gives back what it was lent
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
