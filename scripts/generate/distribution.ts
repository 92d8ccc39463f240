import pg from 'pg';
import { catalogueOf } from '../citus/catalogue.ts';
import { citusScript } from '../citus/script.ts';

/** Makes the script that distributes a migrated database. */
export async function distribution(url: string): Promise<string> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return citusScript(await catalogueOf(client));
  } finally {
    await client.end();
  }
}
