import { type Act, concerning } from '../../../platform/acts.ts';
import type { Caller } from '../../../platform/caller.ts';
import { inTransaction, type Tx } from '../../../platform/db/db.ts';
import { notFound } from '../../../platform/errors.ts';
import type { OnAgentRevoked } from '../../accounts/agents/index.ts';
import { freeQuota } from '../../accounts/quotas/index.ts';
import { prepareActsInTurns, recordActs } from '../../record/audit/index.ts';
import { findGrant } from './grants.queries.ts';
import {
  type GrantNode,
  listActiveIdsOfAgent,
  listActiveIdsOfPrincipal,
  listActiveTree,
  lockDelegation,
  type RevokedReason,
  revokeGrants,
  revokeSome,
  revokeTree,
} from './grants.repo.ts';
import type { GrantDeps } from './grants.service.ts';

export interface Revoking {
  readonly reason: RevokedReason;
  /** What else happened, recorded with the revocation and before it. */
  readonly because?: readonly Act[];
  /** In the developer's own words; in the audit entry only. */
  readonly note?: string | undefined;
}

/** Grants of a tree that one statement revokes and records, while nobody waits for Postgres for long. */
const SMALL = 1000;

/** Ends a grant and everything delegated from it. Harmless to repeat. @throws NOT_FOUND */
export async function revokeGrant(
  deps: GrantDeps,
  caller: Caller,
  grantId: string,
  revoking: Revoking,
): Promise<void> {
  const tree = await listActiveTree(deps.db, caller.tenant, [grantId]);
  if (!tree.some(({ id }) => id === grantId)) return mustExist(deps, caller, grantId);
  if (tree.length > SMALL) return revokeUnderLock(deps, caller, grantId, revoking);

  const at = deps.clock();
  const acts = [...(revoking.because ?? []), ...actsOf(caller, tree, revoking)];
  const expectedIds = tree.map(({ id }) => id);
  const revocation = { at, rootIds: [grantId], expectedIds, reason: revoking.reason };
  const records = await prepareActsInTurns(caller, acts, at);
  const outcome = await revokeGrants(deps.db, caller.tenant, revocation, records);
  if (outcome === 'changed') await revokeUnderLock(deps, caller, grantId, revoking);
}

/**
 * For a tree that is large, which takes several statements, or grew since it was read, and could each time: whoever
 * delegates waits now.
 */
function revokeUnderLock(
  deps: GrantDeps,
  caller: Caller,
  grantId: string,
  revoking: Revoking,
): Promise<void> {
  return inTransaction(deps.db, async (tx) => {
    await lockDelegation(tx, caller.tenant);
    const at = deps.clock();
    const acts = await cutTrees(tx, caller, [grantId], revoking, at);
    if (!acts.some((act) => act.grantId === grantId)) return; // somebody else's revocation came first
    await recordActs(tx, caller, [...(revoking.because ?? []), ...acts], at);
  });
}

/** What is revoked already is left as it is. */
async function mustExist(deps: GrantDeps, { tenant }: Caller, grantId: string): Promise<void> {
  if (!(await findGrant(deps.db, tenant, grantId))) throw notFound();
}

/** An agent's grants and all that came of them, in the transaction that revokes the agent. */
export const revokeGrantsOfAgent: OnAgentRevoked = async (tx, caller, agentId, at) => {
  await lockDelegation(tx, caller.tenant);
  const rootIds = await listActiveIdsOfAgent(tx, caller.tenant, agentId);
  return cutTrees(tx, caller, rootIds, { reason: 'agent_revoked' }, at);
};

/**
 * Ends every grant of a principal that lives, and everything delegated from them: all or none.
 * @returns how many of the principal's lived
 */
export function revokeGrantsOfPrincipal(
  deps: GrantDeps,
  caller: Caller,
  principalId: string,
  revoking: Revoking,
): Promise<number> {
  return inTransaction(deps.db, async (tx) => {
    await lockDelegation(tx, caller.tenant);
    const at = deps.clock();
    const rootIds = await listActiveIdsOfPrincipal(tx, caller.tenant, principalId, at);
    const acts = await cutTrees(tx, caller, rootIds, revoking, at);
    if (acts.length > 0) await recordActs(tx, caller, acts, at);
    return rootIds.length;
  });
}

/** For whoever holds the lock of delegation. @returns what was done, to be recorded */
async function cutTrees(
  tx: Tx,
  caller: Caller,
  rootIds: readonly string[],
  revoking: Revoking,
  at: Date,
): Promise<Act[]> {
  const tree = await listActiveTree(tx, caller.tenant, rootIds);
  const expectedIds = tree.map(({ id }) => id);
  const { reason } = revoking;
  if (tree.length > SMALL) {
    await revokeInPortions(tx, caller, tree, { at, reason });
    return actsOf(caller, tree, revoking);
  }
  const outcome = await revokeTree(tx, caller.tenant, { at, rootIds, expectedIds, reason });
  if (outcome !== null) throw new Error('A tree changed although its lock was held.');
  return actsOf(caller, tree, revoking);
}

/** Of any number, since no statement takes long. Under the lock, the tree stays what was read. */
async function revokeInPortions(
  tx: Tx,
  caller: Caller,
  tree: readonly GrantNode[],
  { at, reason }: { at: Date; reason: RevokedReason },
): Promise<void> {
  const { roots = [], below = [] } = Object.groupBy(tree, ({ id, causeId }) =>
    id === causeId ? 'roots' : 'below',
  );
  let living = 0;
  for (const [branches, why] of [[roots, reason] as const, [below, 'parent'] as const]) {
    const ids = branches.map(({ id }) => id).sort();
    for (let done = 0; done < ids.length; done += SMALL) {
      living += await revokeSome(tx, caller.tenant, ids.slice(done, done + SMALL), { at, reason: why });
    }
  }
  await freeQuota(tx, caller, 'active_grants', living);
}

/** One act for each grant, so that whoever follows one grant learns of its end. */
function actsOf({ actor }: Caller, tree: readonly GrantNode[], { reason, note }: Revoking): Act[] {
  const withBranches = new Set(
    tree.filter(({ id, causeId }) => id !== causeId).map(({ causeId }) => causeId),
  );
  const revokedBy = actor.split(':')[0] ?? actor;
  return tree.map((grant): Act => {
    const { id, causeId, rootGrantId } = grant;
    const about = concerning({ ...grant, grantId: id });
    if (id !== causeId) {
      const data = { rootGrantId, reason: 'parent', cascade: true, revokedBy, causedBy: causeId };
      return { type: 'grant.revoked', ...about, data };
    }
    const data = { rootGrantId, reason, cascade: withBranches.has(id), revokedBy };
    return { type: 'grant.revoked', ...about, data, ...(note && { evidence: { note } }) };
  });
}
