import type { Act } from '../../../platform/acts.ts';
import type { Caller } from '../../../platform/caller.ts';
import { type Executor, inTransaction, type Tx } from '../../../platform/db/db.ts';
import type { Quotas } from '../../../platform/quotas.ts';
import { useQuota } from '../quotas/index.ts';
import { insertProposed, lockProposed, updateAgent } from './agents.repo.ts';
import { agentDid } from './agents.rules.ts';

/** An OAuth client that describes itself, and asks the principals of a developer for the first time. */
export interface Proposal {
  readonly agentId: string;
  readonly clientId: string;
  readonly name: string;
  /** The scopes that the developer's resource knows: the client cannot choose them. */
  readonly scopes: readonly string[];
}

/**
 * Keeps a place for the agent of a client, for requests to name. Nobody has approved anything: it counts for no quota,
 * no list has it, and the developer cannot act on it. When two requests come at once, one of them keeps the place.
 */
export function proposeAgent(
  { db, didHost }: { readonly db: Executor; readonly didHost: string },
  { tenant }: Caller,
  { agentId: id, clientId, name, scopes }: Proposal,
  at: Date,
): Promise<void> {
  const agent = { id, did: agentDid(didHost, id), name, description: '', scopes: [...scopes] };
  const row = { ...agent, clientId, isProposed: true, status: 'suspended' } as const;
  return inTransaction(db, (tx) =>
    insertProposed(tx, tenant, { ...row, publicKeyJwk: null, createdAt: at, updatedAt: at }),
  );
}

/**
 * Makes a proposed agent an agent of the developer, at the first approval of its client. Locks the agent, so call it
 * before other rows are locked.
 * @returns the acts, which the caller records; none when another approval came first
 * @throws PLAN_LIMIT_EXCEEDED
 */
export async function adoptAgent(
  tx: Tx,
  quotas: Quotas,
  caller: Caller,
  { agentId, at }: { readonly agentId: string; readonly at: Date },
): Promise<Act[]> {
  const proposed = await lockProposed(tx, caller.tenant, agentId);
  if (!proposed) return [];
  await useQuota(tx, quotas, caller, 'agents', at);
  await updateAgent(tx, caller.tenant, agentId, { status: 'active', isProposed: false, updatedAt: at });
  const { did, name } = proposed;
  return [{ type: 'agent.created', agentId, agentDid: did, data: { name } }];
}
