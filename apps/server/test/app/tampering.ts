import pg from 'pg';

/** Does to the audit log what the database refuses everybody: a superuser can have no trigger fire. */
export async function tamper(
  databaseUrl: string,
  statement: string,
  values: unknown[] = [],
): Promise<number> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query('set session_replication_role = replica');
    return (await client.query(statement, values)).rowCount ?? 0;
  } finally {
    await client.end();
  }
}
