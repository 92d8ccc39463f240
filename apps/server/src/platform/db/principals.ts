import { sql } from 'kysely';
import type { Tenant } from '../caller.ts';
import type { Executor, Tx } from './db.ts';
import { groupLock } from './hot-writes.ts';

/** For hot writes that give agents something of a principal. After the locks of agents and delegations. */
export const sharedPrincipals = groupLock('share_principals', 4);

/** For hot writes about a call of an agent for a principal: the end of either waits, and the next call sees it. */
export const sharedCallers = groupLock('share_callers', 1.5); // between the locks of agents and delegations
export const sharedPersons = groupLock('share_persons', 5);

/** Lets calls of an agent that ends be recorded before, and wait until the commit. Comes after the lock of the agent. */
export async function lockCaller(tx: Tx, { developerId }: Tenant, agentId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(party_lock(${developerId}, 'agent', ${agentId}))`.execute(tx);
}

/** Whether a principal may act, until the commit. A deactivation waits for it, and ends what was written. */
export async function holdPrincipal(tx: Tx, { developerId }: Tenant, principalId: string): Promise<boolean> {
  const asked = sql<{
    isActive: boolean;
  }>`select hold_principal(${developerId}, ${principalId}) as is_active`;
  return (await asked.execute(tx)).rows[0]?.isActive === true;
}

/** Whether a principal was not offboarded, or admitted since, until the commit. */
export async function holdOpen(tx: Tx, { developerId }: Tenant, principalId: string): Promise<boolean> {
  const asked = sql<{ isOpen: boolean }>`select hold_open(${developerId}, ${principalId}) as is_open`;
  return (await asked.execute(tx)).rows[0]?.isOpen === true;
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
