import type { Insertable, Selectable } from 'kysely';
import type { Tenant } from '../../../platform/caller.ts';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import { eraserOf } from '../../../platform/db/personal-data.ts';
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

type Named = Tenant & Pick<SourceRow, 'connectionId'>;

/** The times at which a stream is due: to be polled, or to be looked at. */
export type Due = 'pollDueAt' | 'checkDueAt';

/** Streams that are due by now, the longest due first. */
export function listDueAcrossTenants(db: Executor, due: Due, at: Date, limit: number): Promise<Named[]> {
  return db
    .selectFrom('signalSources')
    .select(['developerId', 'connectionId'])
    .where(due, '<=', at)
    .orderBy(due)
    .limit(limit)
    .execute();
}

/** Takes a stream that is due, until a later time. @returns undefined when another instance took it first */
export function takeDue(
  db: Executor,
  due: Due,
  { developerId, connectionId }: Named,
  lease: { readonly at: Date; readonly until: Date },
): Promise<SourceRow | undefined> {
  return db
    .updateTable('signalSources')
    .set({ [due]: lease.until })
    .where('developerId', '=', developerId)
    .where('connectionId', '=', connectionId)
    .where(due, '<=', lease.at)
    .returningAll()
    .executeTakeFirst();
}

/** Ends the lease with its outcome, unless the source was written, or leased again, meanwhile. */
export async function settlePoll(
  db: Executor,
  { developerId, connectionId }: Named,
  until: Date,
  outcome: Pick<SourceRow, 'pollDueAt' | 'pollFailures' | 'lastPolledAt' | 'lastError'>,
): Promise<void> {
  await db
    .updateTable('signalSources')
    .set(outcome)
    .where('developerId', '=', developerId)
    .where('connectionId', '=', connectionId)
    .where('pollDueAt', '=', until)
    .execute();
}

/** @returns whether the stream is still the one of this row */
export async function noteVerification(
  db: Executor,
  { developerId, connectionId, updatedAt }: Named & Pick<SourceRow, 'updatedAt'>,
  note: Partial<Pick<SourceRow, 'verificationState' | 'verificationAskedAt' | 'lastError'>>,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('signalSources')
    .set(note)
    .where('developerId', '=', developerId)
    .where('connectionId', '=', connectionId)
    .where('updatedAt', '=', updatedAt)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Marks a stream that was made, and verified last, by `since`. @returns false for one that is marked, or was heard */
export async function markSilent(
  tx: Tx,
  { developerId, connectionId }: Named,
  { at, since }: { readonly at: Date; readonly since: Date },
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('signalSources')
    .set({ silentSince: at })
    .where('developerId', '=', developerId)
    .where('connectionId', '=', connectionId)
    .where('silentSince', 'is', null)
    .where('updatedAt', '<=', since)
    .where(({ eb, or }) => or([eb('verifiedAt', 'is', null), eb('verifiedAt', '<=', since)]))
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

export function listSealedOtherwiseAcrossTenants(
  db: Executor,
  keyId: string,
  after: Pick<SourceRow, 'connectionId'> | undefined,
  limit: number,
) {
  return db
    .selectFrom('signalSources')
    .select(['developerId', 'connectionId', 'transmitter', 'auth'])
    .where('sealKeyId', '<>', keyId)
    .where('connectionId', '>', after?.connectionId ?? '')
    .orderBy('connectionId')
    .limit(limit)
    .execute();
}

/** Leaves a credential that was written meanwhile. */
export async function replaceSealed(
  db: Executor,
  { developerId, connectionId, auth }: Named & Pick<SourceRow, 'auth'>,
  sealed: { readonly auth: Buffer; readonly sealKeyId: string },
): Promise<void> {
  await db
    .updateTable('signalSources')
    .set(sealed)
    .where('developerId', '=', developerId)
    .where('connectionId', '=', connectionId)
    .where('auth', '=', auth)
    .execute();
}
