import { sql } from 'kysely';
import type { Executor } from '../../src/platform/db/db.ts';
import { openPool } from '../../src/platform/db/open-database.ts';

const CONNECTIONS = 8;
const IDLE = 10_000; // milliseconds, after which the databases of other files need the place

const pools = new Map<string, ReturnType<typeof openPool>>();

function poolOf(connectionString: string) {
  const pool = pools.get(connectionString) ?? openPool({ connectionString }, CONNECTIONS, { idle: IDLE });
  pools.set(connectionString, pool);
  return pool;
}

/**
 * The connections to a file's database, which its applications use one after the other. A new connection has
 * to read the catalog and compile the functions, which costs Postgres more than most tests do.
 * @param databaseUrl tells the database at each use, since an application goes on to another file
 */
export function lentPool(databaseUrl: () => string) {
  const pool = () => poolOf(databaseUrl());
  return {
    connect: () => pool().connect(),
    end: async () => {}, // an application only gives the pool back
    get options() {
      return pool().options;
    },
    get totalCount() {
      return pool().totalCount;
    },
    get idleCount() {
      return pool().idleCount;
    },
    get waitingCount() {
      return pool().waitingCount;
    },
  };
}

/**
 * Opens all connections of a file's pool. Otherwise the first of several requests is done on the one open connection
 * before the others have theirs, and nothing that is sent at once meets.
 */
export async function openConnections(db: Executor): Promise<void> {
  await Promise.all(Array.from({ length: CONNECTIONS }, () => sql`select pg_backend_pid()`.execute(db)));
}
