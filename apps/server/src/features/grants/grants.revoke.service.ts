import type { Caller } from '../../platform/caller.ts';
import { notFound } from '../../platform/errors.ts';
import type { OnAgentRevoked } from '../agents/index.ts';
import { recordsOf } from '../audit/index.ts';
import type { Act } from '../events/index.ts';
import {
  type Branch,
  findGrant,
  listActiveIdsOfAgent,
  listActiveTree,
  lockDelegation,
  type RevokedReason,
  revokeGrants,
  revokeTree,
} from './grants.repo.ts';
import type { GrantDeps } from './grants.service.ts';

const ATTEMPTS = 5; // a tree that grows each time it is read is being grown on purpose

export interface Revoking {
  readonly reason: RevokedReason;
  /** What else happened, recorded with the revocation and before it. */
  readonly because?: readonly Act[];
  /** In the developer's own words; in the audit entry only. */
  readonly note?: string | undefined;
}

/** Ends a grant and everything delegated from it. Harmless to repeat. @throws NOT_FOUND */
export async function revokeGrant(
  deps: GrantDeps,
  caller: Caller,
  grantId: string,
  revoking: Revoking,
): Promise<void> {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    const tree = await listActiveTree(deps.db, caller.tenant, [grantId]);
    if (!tree.some(({ id }) => id === grantId)) return mustExist(deps, caller, grantId);

    const at = deps.clock();
    const acts = [...(revoking.because ?? []), ...actsOf(caller, tree, revoking)];
    const expectedIds = tree.map(({ id }) => id);
    const revocation = { at, rootIds: [grantId], expectedIds, reason: revoking.reason };
    const records = recordsOf(caller, acts, at);
    if ((await revokeGrants(deps.db, caller.tenant, revocation, records)) === null) return;
  }
  throw new Error('The tree of a grant changed each time it was to be revoked.');
}

/** What is revoked already is left as it is. */
async function mustExist(deps: GrantDeps, { tenant }: Caller, grantId: string): Promise<void> {
  if (!(await findGrant(deps.db, tenant, grantId))) throw notFound();
}

/** An agent's grants and all that came of them, in the transaction that revokes the agent. */
export const revokeGrantsOfAgent: OnAgentRevoked = async (tx, caller, agentId, at) => {
  await lockDelegation(tx, caller.tenant);
  const rootIds = await listActiveIdsOfAgent(tx, caller.tenant, agentId);
  const tree = await listActiveTree(tx, caller.tenant, rootIds);
  const expectedIds = tree.map(({ id }) => id);
  const reason = 'agent_revoked';
  const outcome = await revokeTree(tx, caller.tenant, { at, rootIds, expectedIds, reason });
  if (outcome !== null) throw new Error('A tree changed although its lock was held.');
  return actsOf(caller, tree, { reason });
};

/** One act for each grant, so that whoever follows one grant learns of its end. */
function actsOf({ actor }: Caller, tree: readonly Branch[], { reason, note }: Revoking): Act[] {
  const withBranches = new Set(
    tree.filter(({ id, causeId }) => id !== causeId).map(({ causeId }) => causeId),
  );
  const revokedBy = actor.split(':')[0] ?? actor;
  return tree.map(({ id, causeId, rootGrantId, agentId, agentDid, principalId, purpose }): Act => {
    const about = { grantId: id, agentId, agentDid, principalId, ...(purpose && { purpose }) };
    if (id !== causeId) {
      const data = { rootGrantId, reason: 'parent', cascade: true, revokedBy, causedBy: causeId };
      return { type: 'grant.revoked', ...about, data };
    }
    const data = { rootGrantId, reason, cascade: withBranches.has(id), revokedBy };
    return { type: 'grant.revoked', ...about, data, ...(note && { evidence: { note } }) };
  });
}
