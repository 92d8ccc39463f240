import { sql } from 'kysely';
import type { Tenant } from '../caller.ts';
import type { Executor, Tx } from './db.ts';
import { groupLock } from './hot-writes.ts';

/** For hot writes that give agents something of a principal. After the locks of agents and delegations. */
export const sharedPrincipals = groupLock('share_principals', 4);

/** Whether a principal may act, until the commit. A deactivation waits for it, and ends what was written. */
export async function holdPrincipal(tx: Tx, { developerId }: Tenant, principalId: string): Promise<boolean> {
  const asked = sql<{
    isActive: boolean;
  }>`select hold_principal(${developerId}, ${principalId}) as is_active`;
  return (await asked.execute(tx)).rows[0]?.isActive === true;
}

/** Whether a principal may act, as it is now. */
export async function isPrincipalActive(
  db: Executor,
  { developerId }: Tenant,
  principalId: string,
): Promise<boolean> {
  const asked = sql<{
    isActive: boolean;
  }>`select principal_active(${developerId}, ${principalId}) as is_active`;
  return (await asked.execute(db)).rows[0]?.isActive === true;
}
