import type { Insertable } from 'kysely';
import type { Tenant } from '../../../platform/caller.ts';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import { eraserOf } from '../../../platform/db/personal-data.ts';
import type { EmailVerifications } from '../../../platform/db/types.gen.ts';

/** Stores a link. The hash is that of its token. */
export async function insertVerification(
  tx: Tx,
  { developerId }: Tenant,
  { hash, ...verification }: Omit<Insertable<EmailVerifications>, 'developerId'> & { hash: Buffer },
): Promise<void> {
  await tx
    .insertInto('emailVerifications')
    .values({ ...verification, developerId })
    .execute();
  await tx
    .insertInto('emailVerificationIndex')
    .values({ hash, developerId, verificationId: verification.id })
    .execute();
}

/** Voids links: those that verified nothing yet, all but one, or all. */
export async function deleteVerifications(
  tx: Tx,
  { developerId }: Tenant,
  which: 'pending' | 'all' | { readonly otherThan: string },
): Promise<void> {
  const own = tx.selectFrom('emailVerifications').select('id').where('developerId', '=', developerId);
  const found =
    which === 'all'
      ? own
      : which === 'pending'
        ? own.where('verifiedAt', 'is', null)
        : own.where('id', '<>', which.otherThan);
  const ids = (await found.execute()).map(({ id }) => id);
  if (ids.length === 0) return;
  await tx
    .deleteFrom('emailVerificationIndex')
    .where('developerId', '=', developerId)
    .where('verificationId', 'in', ids)
    .execute();
  await tx
    .deleteFrom('emailVerifications')
    .where('developerId', '=', developerId)
    .where('id', 'in', ids)
    .execute();
}

/** The verification of a link. It takes no tenant by design, because the link names the tenant. */
export function findVerificationAcrossTenants(db: Executor, hash: Buffer) {
  return db
    .selectFrom('emailVerificationIndex as index')
    .innerJoin('emailVerifications as verification', (join) =>
      join
        .onRef('verification.developerId', '=', 'index.developerId')
        .onRef('verification.id', '=', 'index.verificationId'),
    )
    .selectAll('verification')
    .where('index.hash', '=', hash)
    .executeTakeFirst();
}

/** Locks the row, so that the second of two simultaneous uses sees the first. */
export function lockVerification(tx: Tx, { developerId }: Tenant, id: string) {
  return tx
    .selectFrom('emailVerifications')
    .selectAll()
    .where('developerId', '=', developerId)
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst();
}

export async function markVerified(tx: Tx, { developerId }: Tenant, id: string, at: Date): Promise<void> {
  await tx
    .updateTable('emailVerifications')
    .set({ verifiedAt: at })
    .where('developerId', '=', developerId)
    .where('id', '=', id)
    .execute();
}

/**
 * Makes the developer the owner of an address, and of no other. Waits for another transaction that claims or
 * frees the address at the same time. @returns false when another developer owns it
 */
export async function claimAddress(tx: Tx, { developerId }: Tenant, email: string): Promise<boolean> {
  await tx
    .deleteFrom('verifiedEmails')
    .where('developerId', '=', developerId)
    .where('email', '<>', email)
    .execute();
  await tx
    .insertInto('verifiedEmails')
    .values({ email, developerId })
    .onConflict((conflict) => conflict.column('email').doNothing())
    .execute();
  const own = tx.selectFrom('verifiedEmails').select('email').where('developerId', '=', developerId);
  return (await own.where('email', '=', email).executeTakeFirst()) !== undefined;
}

/** Gives up the address. */
export async function releaseAddress(tx: Tx, { developerId }: Tenant): Promise<void> {
  await tx.deleteFrom('verifiedEmails').where('developerId', '=', developerId).execute();
}

/** Erases rows of a closed account. */
export const eraseEmails = eraserOf('email_verification_index', 'email_verifications', 'verified_emails');
