import { type Insertable, type Selectable, sql, type Updateable } from 'kysely';
import type { Tenant } from '../../../platform/caller.ts';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import { eraserOf } from '../../../platform/db/erasure.ts';
import { readPage } from '../../../platform/db/page-rows.ts';
import type { SsfReceivers } from '../../../platform/db/types.gen.ts';
import type { ReceiverQuery } from './transmitter.schema.ts';

export type ReceiverRow = Selectable<SsfReceivers>;

/** Lets the registrations of a developer take turns, so that their number is exact. */
export async function lockReceivers(tx: Tx, { developerId }: Tenant): Promise<void> {
  await sql`select lock_receivers(${developerId})`.execute(tx);
}

/** How many receivers there are. The caller holds `lockReceivers`. */
export async function countReceivers(tx: Tx, { developerId }: Tenant): Promise<number> {
  const { count } = await tx
    .selectFrom('ssfReceivers')
    .select(({ fn }) => fn.countAll<string>().as('count'))
    .where('developerId', '=', developerId)
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** @returns undefined when another receiver, of whichever developer, has the audience */
export function insertReceiver(
  tx: Tx,
  { developerId }: Tenant,
  receiver: Omit<Insertable<SsfReceivers>, 'developerId'>,
): Promise<ReceiverRow | undefined> {
  return tx
    .insertInto('ssfReceivers')
    .values({ ...receiver, developerId })
    .onConflict((conflict) => conflict.column('audience').doNothing())
    .returningAll()
    .executeTakeFirst();
}

export function findReceiver(db: Executor, { developerId }: Tenant, id: string) {
  return db
    .selectFrom('ssfReceivers')
    .selectAll()
    .where('developerId', '=', developerId)
    .where('id', '=', id)
    .executeTakeFirst();
}

/** Newest first. */
export function listReceiverRows(db: Executor, { developerId }: Tenant, { limit, cursor }: ReceiverQuery) {
  const all = db.selectFrom('ssfReceivers').selectAll().where('developerId', '=', developerId);
  const page = cursor ? all.where('id', '<', cursor) : all;
  return readPage<ReceiverRow>(db, page.orderBy('id', 'desc'), limit);
}

/** Locks the row, so that changes of a receiver and of its streams take turns. */
export function lockReceiver(tx: Tx, { developerId }: Tenant, id: string) {
  return tx
    .selectFrom('ssfReceivers')
    .selectAll()
    .where('developerId', '=', developerId)
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst();
}

export function updateReceiver(
  tx: Tx,
  { developerId }: Tenant,
  id: string,
  change: Updateable<SsfReceivers>,
): Promise<ReceiverRow> {
  return tx
    .updateTable('ssfReceivers')
    .set(change)
    .where('developerId', '=', developerId)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Its tokens go with it. */
export async function deleteReceiverRow(tx: Tx, { developerId }: Tenant, id: string): Promise<void> {
  await tx.deleteFrom('ssfReceivers').where('developerId', '=', developerId).where('id', '=', id).execute();
}

/** Erases rows of a closed account. */
export const eraseTransmitter = eraserOf('ssf_tokens', 'ssf_streams', 'ssf_receivers');
