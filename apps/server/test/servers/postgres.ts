import pg from 'pg';
import { type Kept, startKeeper } from './keeper.ts';

/** Starts a server, or takes the server of TEST_DATABASE_URL, whose user may create databases. */
export async function startPostgres(): Promise<Kept> {
  const given = process.env.TEST_DATABASE_URL;
  return given ? { url: given, stop: async () => {} } : startKeeper('postgres-keeper.ts');
}

/** Runs a statement outside any transaction, as `create database` demands. */
export async function execute(url: string, statement: string): Promise<pg.QueryResult> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return client.query(statement).finally(() => client.end());
}

/** Locks a table until it is released. `isAwaited` resolves when another session waits for it. */
export async function holdTable(url: string, table: 'api_key_index' | 'auth_requests') {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(`begin; lock table ${table}`);
  const waiting =
    'select 1 from pg_locks where not granted and database = (select oid from pg_database where datname = current_database())';
  return {
    async isAwaited() {
      while ((await client.query(waiting)).rowCount === 0);
    },
    release: () => client.end(),
  };
}
