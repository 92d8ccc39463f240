import pg from 'pg';
import type { Developer, Service } from './start-app.ts';

/** Gives a developer entries that no append wrote, so without good hashes. @param bytes of each one's metadata */
export async function withManyEntries(
  { databaseUrl, asDeveloper }: Service,
  count: number,
  bytes: number,
): Promise<Developer> {
  const acme = await asDeveloper({ mode: 'sandbox' });
  const inserted = await tamper(
    databaseUrl,
    `insert into audit_entries (developer_id, seq, id, action, status, metadata, at, hash)
     select $1, n, 'alog_' || n, 'file.read', 'success', jsonb_build_object('text', repeat('x', $3)),
       '2026-01-01', '\\x00'
     from generate_series(2, $2::int + 1) n`,
    [acme.developerId, count, bytes],
  );
  if (inserted !== count) throw new Error(`${inserted} entries were inserted.`);
  await tamper(databaseUrl, 'update audit_heads set seq = $2::int + 1 where developer_id = $1', [
    acme.developerId,
    count,
  ]);
  return acme;
}

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
