import type { Tenant } from '../../../platform/caller.ts';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import type { CredentialRow } from './credentials.repo.ts';
import type { ExchangeableRow } from './exchange.repo.ts';

type Versioned = Pick<ExchangeableRow, 'id' | 'version'>;

/** A credential whose lease the caller holds. */
export type LeasedRow = CredentialRow & { readonly leaseId: string };

/**
 * Takes the lease of a credential that was not stored again meanwhile.
 * @returns undefined when another call has the lease, or when the credential has changed
 */
export async function leaseCredential(
  db: Executor,
  { developerId }: Tenant,
  { id, version }: Versioned,
  lease: { readonly id: string; readonly at: Date; readonly until: Date },
): Promise<LeasedRow | undefined> {
  const row = await db
    .updateTable('vaultCredentials')
    .set({ leaseId: lease.id, leasedUntil: lease.until })
    .where('developerId', '=', developerId)
    .where('id', '=', id)
    .where('version', '=', version)
    .where(({ eb, or }) => or([eb('leasedUntil', 'is', null), eb('leasedUntil', '<=', lease.at)]))
    .returningAll()
    .executeTakeFirst();
  return row && { ...row, leaseId: lease.id };
}

/** The state of a lease, for those who wait for its end. */
export function findLease(db: Executor, { developerId }: Tenant, id: string) {
  return db
    .selectFrom('vaultCredentials')
    .select(['version', 'leasedUntil'])
    .where('developerId', '=', developerId)
    .where('id', '=', id)
    .executeTakeFirst();
}

type Renewed = Pick<
  CredentialRow,
  | 'accessToken'
  | 'refreshToken'
  | 'tokenExpiresAt'
  | 'refreshStatus'
  | 'updatedAt'
  | 'connectionStatus'
  | 'connectionReason'
  | 'refreshFailures'
  | 'refreshAfter'
> & { readonly connection: string };

/** Ends the lease with its outcome. @returns whether the credential was still the leased one */
export async function settleLease(
  tx: Tx,
  { developerId }: Tenant,
  { id, version, leaseId }: Pick<LeasedRow, 'id' | 'version' | 'leaseId'>,
  change: Partial<Renewed>,
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('vaultCredentials')
    .set({ ...change, leaseId: null, leasedUntil: null, version: String(BigInt(version) + 1n) })
    .where('developerId', '=', developerId)
    .where('id', '=', id)
    .where('version', '=', version)
    .where('leaseId', '=', leaseId)
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

/** Gives a lease back without new tokens. @param rest the time at which the upstream may be asked again, after a failure */
export async function releaseLease(
  db: Executor,
  { developerId }: Tenant,
  { id, leaseId }: Pick<LeasedRow, 'id' | 'leaseId'>,
  rest: Partial<Pick<Renewed, 'refreshFailures' | 'refreshAfter'>> = {},
): Promise<void> {
  await db
    .updateTable('vaultCredentials')
    .set({ ...rest, leaseId: null, leasedUntil: null })
    .where('developerId', '=', developerId)
    .where('id', '=', id)
    .where('leaseId', '=', leaseId)
    .execute();
}
