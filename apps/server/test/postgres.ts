import pg from 'pg';
import { type Kept, startKeeper } from './keeper.ts';

/** A server of our own, or the one named by TEST_DATABASE_URL, whose user may create databases. */
export async function startPostgres(): Promise<Kept> {
  const given = process.env.TEST_DATABASE_URL;
  return given ? { url: given, stop: async () => {} } : startKeeper('postgres-keeper.ts');
}

/** Runs one statement outside any transaction, as `create database` demands. */
export async function execute(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(statement).finally(() => client.end());
}
