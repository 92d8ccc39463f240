import { sql } from 'kysely';
import { expect, onTestFinished, test } from 'vitest';
import { withManyEntries } from '../../../../test/app/many-entries.ts';
import { type Service, startApp } from '../../../../test/app/start-app.ts';
import { tamper } from '../../../../test/app/tampering.ts';
import type { Tenant } from '../../../platform/caller.ts';
import type { Executor } from '../../../platform/db/db.ts';
import { openDatabase } from '../../../platform/db/open-database.ts';
import { listExportedEntries } from '../../extras/compliance/compliance.repo.ts';
import { listEntryRows } from './audit.repo.ts';
import { listEntryRange } from './chain.repo.ts';
import { listErasable } from './erase.repo.ts';

const ENTRIES = 400;
/** As many texts of 32 characters as have about 16 KiB, which Postgres stores beside the row. */
const TEXTS = 490;

/** The blocks of large values that were read so far. */
async function blocksRead(db: Executor): Promise<number> {
  await sql`select pg_stat_force_next_flush()`.execute(db);
  const counted = sql<{ blocks: string }>`
    select toast_blks_hit + toast_blks_read as blocks from pg_statio_user_tables where relname = 'audit_entries'`;
  return Number((await counted.execute(db)).rows[0]?.blocks);
}

async function blocksOf(db: Executor, read: () => Promise<unknown>): Promise<number> {
  const before = await blocksRead(db);
  await read();
  return (await blocksRead(db)) - before;
}

async function withLargeEntries(service: Service): Promise<Tenant> {
  const { developerId } = await withManyEntries(service, ENTRIES, 0);
  const changed = await tamper(
    service.databaseUrl,
    `update audit_entries set metadata = jsonb_build_object('text',
       (select string_agg(md5(seq::text || n), '') from generate_series(1, $2::int) n))
     where developer_id = $1 and action = 'file.read'`,
    [developerId, TEXTS],
  );
  expect(changed).toBe(ENTRIES);
  await tamper(service.databaseUrl, 'analyze audit_entries');
  return { developerId };
}

test('I16: Postgres reads the large values of the entries that a reader gets, and of hardly any other', async () => {
  const service = await startApp(); // a database of its own, because Postgres counts reads by table
  const tenant = await withLargeEntries(service);
  const db = openDatabase({ connectionString: service.databaseUrl }, 1); // one session, which tells what it has read
  onTestFinished(() => db.destroy());
  const range = { fromSeq: 1, toSeq: ENTRIES + 1 };
  const page = { order: 'desc', limit: 500 } as const;
  const all = await blocksOf(db, () =>
    sql`select sum(length(metadata::text)) from audit_entries where developer_id = ${tenant.developerId}`.execute(
      db,
    ),
  );
  expect(all).toBeGreaterThanOrEqual(ENTRIES);

  const listed = await blocksOf(db, () => listEntryRows(db, { tenant, agentIds: null }, page, []));
  const toErase = await blocksOf(db, () => listErasable(db, tenant, range, null, 500));
  const verified = await blocksOf(db, () => listEntryRange(db, tenant, 1, ENTRIES));
  const exported = await blocksOf(db, () => listExportedEntries(db, tenant, {}, range));

  // A page of 1 MiB has a sixth of the entries, and a portion of 64 KiB a hundredth.
  for (const blocks of [listed, toErase]) expect(blocks).toBeLessThan(all / 2);
  for (const blocks of [verified, exported]) expect(blocks).toBeLessThan(all / 20);
});
