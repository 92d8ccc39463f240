import type { Act } from '../../../platform/acts.ts';
import type { Caller } from '../../../platform/caller.ts';
import { type Executor, inTransaction, type Tx } from '../../../platform/db/db.ts';
import { newId } from '../../../platform/ids.ts';
import type { Quotas } from '../../../platform/quotas.ts';
import { useQuota } from '../quotas/index.ts';
import { agentOfClient, insertProposed, lockProposed, updateAgent } from './agents.repo.ts';
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
  proposal: Proposal,
  at: Date,
): Promise<void> {
  return inTransaction(db, (tx) => insertProposed(tx, tenant, rowOf(proposal, didHost, at)));
}

const rowOf = ({ agentId: id, clientId, name, scopes }: Proposal, didHost: string, at: Date) => {
  const agent = { id, did: agentDid(didHost, id), name, description: '', scopes: [...scopes] };
  const state = { clientId, isProposed: true, status: 'suspended' } as const;
  return { ...agent, ...state, publicKeyJwk: null, createdAt: at, updatedAt: at };
};

/**
 * Makes a client that describes itself an agent of the developer, on the developer's own word. A client that has an agent
 * there keeps it.
 * @returns the agent's id, and the acts, which the caller records
 * @throws PLAN_LIMIT_EXCEEDED
 */
export async function admitClient(
  tx: Tx,
  { quotas, didHost }: { readonly quotas: Quotas; readonly didHost: string },
  caller: Caller,
  proposal: Omit<Proposal, 'agentId'>,
  at: Date,
): Promise<{ readonly agentId: string; readonly acts: Act[] }> {
  const row = rowOf({ ...proposal, agentId: newId('ag', at) }, didHost, at);
  await insertProposed(tx, caller.tenant, row);
  const agentId = await agentOfClient(tx, caller.tenant, proposal.clientId);
  return { agentId, acts: await adoptAgent(tx, quotas, caller, { agentId, at }) };
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
