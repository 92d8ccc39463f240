import { type Insertable, type Selectable, sql } from 'kysely';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import { readPage } from '../../../platform/db/page-rows.ts';
import type { OperatorEntries } from '../../../platform/db/types.gen.ts';

export type OperatorEntryRow = Selectable<OperatorEntries>;

/** Waits for the transactions that append. */
export async function lockHead(tx: Tx) {
  await sql`select pg_advisory_xact_lock(hashtextextended('operator', 0))`.execute(tx);
  return tx
    .selectFrom('operatorHead')
    .select(['seq', 'hash', sql<Date | null>`nullif(at, '-infinity')`.as('at')])
    .where('id', '=', 'operator')
    .executeTakeFirstOrThrow();
}

export async function insertEntries(tx: Tx, entries: readonly Insertable<OperatorEntries>[]): Promise<void> {
  const last = entries.at(-1);
  if (!last) return;
  await tx.insertInto('operatorEntries').values(entries).execute();
  await tx
    .updateTable('operatorHead')
    .set({ seq: last.seq, hash: last.hash, at: last.at })
    .where('id', '=', 'operator')
    .execute();
}

/** In the order of the chain. */
export function listEntryRows(db: Executor, afterSeq: number, limit: number) {
  const all = db.selectFrom('operatorEntries').selectAll().where('seq', '>', String(afterSeq));
  return readPage(db, all.orderBy('seq'), limit);
}
