import pg from 'pg';

/** Changes the audit log as the database forbids. A superuser can switch triggers off. */
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
