import type { Insertable, Selectable } from 'kysely';
import type { Tenant } from '../../../platform/caller.ts';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import { eraserOf } from '../../../platform/db/erasure.ts';
import type { SignalSources } from '../../../platform/db/types.gen.ts';

export type SourceRow = Selectable<SignalSources>;

export const findSource = (
  db: Executor,
  { developerId }: Tenant,
  connectionId: string,
): Promise<SourceRow | undefined> =>
  db
    .selectFrom('signalSources')
    .selectAll()
    .where('developerId', '=', developerId)
    .where('connectionId', '=', connectionId)
    .executeTakeFirst();

/** A provider sends to the id of a connection, which says nothing of the developer. */
export function findSourceAcrossTenants(db: Executor, connectionId: string): Promise<SourceRow | undefined> {
  return db
    .selectFrom('signalSources')
    .selectAll()
    .where('connectionId', '=', connectionId)
    .executeTakeFirst();
}

/** Writes a source. An earlier one keeps its beginning. */
export function writeSource(
  tx: Tx,
  { developerId }: Tenant,
  row: Omit<Insertable<SignalSources>, 'developerId'>,
): Promise<SourceRow> {
  const { createdAt: _, ...changed } = row;
  return tx
    .insertInto('signalSources')
    .values({ ...row, developerId })
    .onConflict((conflict) => conflict.columns(['developerId', 'connectionId']).doUpdateSet(changed))
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** @returns the deleted row, if there was one */
export const deleteSource = (
  tx: Tx,
  { developerId }: Tenant,
  connectionId: string,
): Promise<SourceRow | undefined> =>
  tx
    .deleteFrom('signalSources')
    .where('developerId', '=', developerId)
    .where('connectionId', '=', connectionId)
    .returningAll()
    .executeTakeFirst();

const KEPT_MS = 8 * 86_400_000; // one day longer than the oldest signal that is taken

/**
 * Remembers a signal, and forgets those of the developer that are too old to be sent again.
 * @returns whether it is new
 */
export async function takeSignal(
  tx: Tx,
  { developerId }: Tenant,
  taken: { readonly connectionId: string; readonly jti: string; readonly receivedAt: Date },
): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await tx
    .with('swept', (also) =>
      also
        .deleteFrom('signalReceipts')
        .where('developerId', '=', developerId)
        .where('receivedAt', '<=', new Date(taken.receivedAt.getTime() - KEPT_MS)),
    )
    .insertInto('signalReceipts')
    .values({ ...taken, developerId })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return numInsertedOrUpdatedRows === 1n;
}

export async function noteSignal(
  tx: Tx,
  { developerId }: Tenant,
  connectionId: string,
  note: { readonly lastSignalAt: Date; readonly verifiedAt?: Date; readonly silentSince?: null },
): Promise<void> {
  await tx
    .updateTable('signalSources')
    .set(note)
    .where('developerId', '=', developerId)
    .where('connectionId', '=', connectionId)
    .execute();
}

/** Erases rows of a closed account. */
export const eraseSignals = eraserOf('signal_receipts', 'signal_sources');
