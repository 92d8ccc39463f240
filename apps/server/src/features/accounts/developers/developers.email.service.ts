import type { Tenant } from '../../../platform/caller.ts';
import type { Tx } from '../../../platform/db/db.ts';
import { lockDeveloper, updateDeveloper } from './developers.repo.ts';

/** Locks out other changes of the account until the commit. */
export const lockAccount = lockDeveloper;

/** The caller has made sure that no other account has the address, and records the act. */
export async function setVerifiedEmail(tx: Tx, tenant: Tenant, email: string, at: Date): Promise<void> {
  await updateDeveloper(tx, tenant, { email, emailVerified: true, updatedAt: at });
}
