import type { Developer, Service } from './start-app.ts';
import { tamper } from './tampering.ts';

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
