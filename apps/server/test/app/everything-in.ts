import pg from 'pg';

/** Each value of each column of each table, as text; bytes both as they are and as the two usual texts of them. */
export async function everythingIn(databaseUrl: string): Promise<string> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const tables = await client.query("select tablename from pg_tables where schemaname = 'public'");
  const seen: string[] = [];
  for (const { tablename } of tables.rows) {
    const { rows } = await client.query(`select * from ${client.escapeIdentifier(tablename)}`);
    for (const value of rows.flatMap((row) => Object.values(row))) {
      seen.push(
        Buffer.isBuffer(value)
          ? ['hex', 'base64', 'base64url', 'utf8'].map((as) => value.toString(as as 'hex')).join(' ')
          : typeof value === 'object'
            ? JSON.stringify(value)
            : String(value),
      );
    }
  }
  await client.end();
  return seen.join('\n');
}
