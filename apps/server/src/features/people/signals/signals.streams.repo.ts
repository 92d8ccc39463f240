import type { Tenant } from '../../../platform/caller.ts';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import type { SourceRow } from './signals.repo.ts';

type Named = Tenant & Pick<SourceRow, 'connectionId'>;

/** Streams that are to be polled by now, the longest due first. */
export function listDuePollsAcrossTenants(db: Executor, at: Date, limit: number): Promise<Named[]> {
  return db
    .selectFrom('signalSources')
    .select(['developerId', 'connectionId'])
    .where('pollDueAt', '<=', at)
    .orderBy('pollDueAt')
    .limit(limit)
    .execute();
}

/** Takes a stream that is due, until the end of the lease. @returns undefined when another instance took it first */
export function takePoll(
  db: Executor,
  { developerId, connectionId }: Named,
  lease: { readonly at: Date; readonly until: Date },
): Promise<SourceRow | undefined> {
  return db
    .updateTable('signalSources')
    .set({ pollDueAt: lease.until })
    .where('developerId', '=', developerId)
    .where('connectionId', '=', connectionId)
    .where('pollDueAt', '<=', lease.at)
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

/** Streams that are to be looked at by now, the longest due first. */
export function listDueChecksAcrossTenants(db: Executor, at: Date, limit: number): Promise<Named[]> {
  return db
    .selectFrom('signalSources')
    .select(['developerId', 'connectionId'])
    .where('checkDueAt', '<=', at)
    .orderBy('checkDueAt')
    .limit(limit)
    .execute();
}

/** Takes a stream that is due, until the next look. @returns undefined when another instance took it first */
export function takeCheck(
  db: Executor,
  { developerId, connectionId }: Named,
  lease: { readonly at: Date; readonly until: Date },
): Promise<SourceRow | undefined> {
  return db
    .updateTable('signalSources')
    .set({ checkDueAt: lease.until })
    .where('developerId', '=', developerId)
    .where('connectionId', '=', connectionId)
    .where('checkDueAt', '<=', lease.at)
    .returningAll()
    .executeTakeFirst();
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
  { keyId, after }: { readonly keyId: string; readonly after: string },
  limit: number,
) {
  return db
    .selectFrom('signalSources')
    .select(['developerId', 'connectionId', 'transmitter', 'auth'])
    .where('sealKeyId', '<>', keyId)
    .where('connectionId', '>', after)
    .orderBy('connectionId')
    .limit(limit)
    .execute();
}

/** Leaves a credential that was written meanwhile. */
export async function sealAuth(
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
