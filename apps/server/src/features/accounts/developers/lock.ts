import type { Plan, Tenant } from '../../../platform/caller.ts';
import type { Tx } from '../../../platform/db/db.ts';
import { AppError } from '../../../platform/errors.ts';
import { type DeveloperRow, lockDeveloper, updateDeveloper } from './developers.repo.ts';

/** Locks out other changes of the account until the commit. @returns undefined when it was closed */
export async function lockAccount(tx: Tx, tenant: Tenant): Promise<DeveloperRow | undefined> {
  const row = await lockDeveloper(tx, tenant);
  return row.closedAt ? undefined : row;
}

/** As `lockAccount`. @throws UNAUTHORIZED when another call closed the account meanwhile, and the key with it */
export async function lockOpenAccount(tx: Tx, tenant: Tenant): Promise<DeveloperRow> {
  const row = await lockAccount(tx, tenant);
  if (!row) throw new AppError('UNAUTHORIZED', 'This account was closed.');
  return row;
}

/** The caller has made sure that no other account has the address, and records the act. */
export async function setVerifiedEmail(tx: Tx, tenant: Tenant, email: string, at: Date): Promise<void> {
  await updateDeveloper(tx, tenant, { email, emailVerified: true, updatedAt: at });
}

/** The caller records the act, and publishes the change after the commit. */
export async function setPlan(tx: Tx, tenant: Tenant, plan: Plan, at: Date): Promise<void> {
  await updateDeveloper(tx, tenant, { plan, updatedAt: at });
}
