import { type Act, concerning } from '../../../platform/acts.ts';
import { type Caller, isWithin, type Tenant } from '../../../platform/caller.ts';
import { inTransaction, type Tx } from '../../../platform/db/db.ts';
import { notFound } from '../../../platform/errors.ts';
import type { OnAgentRevoked } from '../../accounts/agents/index.ts';
import type { OnAccountClosed } from '../../accounts/developers/index.ts';
import { prepareActsInTurns, recordActs } from '../../record/audit/index.ts';
import { type RevocationStatement, type StatementDeps, stateRevocation } from '../verifiers/index.ts';
import { findGrant } from './grants.queries.ts';
import {
  type GrantNode,
  listActiveIdsOfAgent,
  listActiveIdsOfPrincipal,
  listActiveIdsOfToken,
  listActiveTree,
  listCredentials,
  listTopActiveIds,
  lockDelegation,
  type RevokedReason,
  revokeBranch,
  revokeGrants,
} from './grants.repo.ts';
import type { RevokeQuery } from './grants.schema.ts';
import type { GrantDeps } from './list.ts';

export interface Revoking {
  readonly reason: RevokedReason;
  /** The acts that led to the revocation. Their entries come before its own. */
  readonly because?: readonly Act[];
  /** The developer's own words. Only the audit entry has them. */
  readonly note?: string | undefined;
  /** Only the grants of a principal that an identity provider has vouched for, with all that was delegated from them. */
  readonly givenBy?: 'sso' | undefined;
}

/** The largest tree that one statement revokes and records, so that no statement takes long. */
const SMALL = 1000;

/** Ends a grant and everything delegated from it. A repeated call changes nothing. @throws NOT_FOUND */
export async function revokeGrant(
  deps: GrantDeps,
  caller: Caller,
  grantId: string,
  revoking: Revoking,
): Promise<void> {
  const tree = await listActiveTree(deps.db, caller.tenant, [grantId]);
  const root = tree.find(({ id }) => id === grantId);
  if (!root) return mustExist(deps, caller, grantId);
  if (!isWithin(caller, root.agentId)) throw notFound();
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
 * Ends a grant for its developer. @returns with `wait`, the statement of who accepts it no more
 * @throws NOT_FOUND
 */
export async function revokeAndState(
  deps: GrantDeps & StatementDeps,
  caller: Caller,
  grantId: string,
  { reason: note, wait, waitSeconds }: RevokeQuery,
): Promise<RevocationStatement | undefined> {
  await revokeGrant(deps, caller, grantId, { reason: 'developer', note });
  return wait && stateRevocation(deps, caller, grantId, waitSeconds);
}

/**
 * Revokes a tree that needs several statements, that grew since it was read and could grow again, or with which passports
 * about other grants fall. Delegations wait for the end of the transaction.
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
    if (!acts.some((act) => act.grantId === grantId)) return; // another revocation came first
    await recordActs(tx, caller, [...(revoking.because ?? []), ...acts], at);
  });
}

/** A grant that is revoked already stays as it is. @throws NOT_FOUND for an unknown grant */
async function mustExist(deps: GrantDeps, caller: Caller, grantId: string): Promise<void> {
  if (!(await findGrant(deps.db, caller, grantId))) throw notFound();
}

/**
 * Revokes an agent's grants and everything delegated from them, in the transaction that revokes the agent.
 */
export const revokeGrantsOfAgent: OnAgentRevoked = (tx, caller, { agentId, at }) =>
  revokeActiveGrantsOfAgent(tx, caller, agentId, { reason: 'agent_revoked' }, at);

/** Revokes every active grant of an account that is closed. */
export const revokeGrantsOfAccount: OnAccountClosed = async (tx, caller, at) => {
  await lockDelegation(tx, caller.tenant);
  const rootIds = await listTopActiveIds(tx, caller.tenant);
  return cutTrees(tx, caller, rootIds, { reason: 'developer' }, at);
};

/** Revokes a grant and everything delegated from it. @returns the acts, which the caller records; none when it ended */
export async function revokeGrantWithin(
  tx: Tx,
  caller: Caller,
  grantId: string,
  revoking: Revoking,
  at: Date,
): Promise<Act[]> {
  return revokeGrantsWithin(tx, caller, [grantId], revoking, at);
}

/** As `revokeGrantWithin`, for several. */
export async function revokeGrantsWithin(
  tx: Tx,
  caller: Caller,
  grantIds: readonly string[],
  revoking: Revoking,
  at: Date,
): Promise<Act[]> {
  if (grantIds.length === 0) return [];
  await lockDelegation(tx, caller.tenant);
  return cutTrees(tx, caller, grantIds, revoking, at);
}

/** Revokes an agent's active grants and everything delegated from them. @returns the acts, which the caller records */
export async function revokeActiveGrantsOfAgent(
  tx: Tx,
  caller: Caller,
  agentId: string,
  revoking: Revoking,
  at: Date,
): Promise<Act[]> {
  await lockDelegation(tx, caller.tenant);
  return cutTrees(tx, caller, await listActiveIdsOfAgent(tx, caller.tenant, agentId), revoking, at);
}

/**
 * Revokes every active grant of a principal and everything delegated from them.
 * @returns the acts, which the caller records, and how many of the principal's grants were active and unexpired
 */
export async function revokeGrantsOfPrincipal(
  tx: Tx,
  caller: Caller,
  principalId: string,
  revoking: Revoking,
  at: Date,
): Promise<{ acts: Act[]; revoked: number }> {
  await lockDelegation(tx, caller.tenant);
  const rootIds = await listActiveIdsOfPrincipal(tx, caller.tenant, principalId, at, revoking.givenBy);
  return { acts: await cutTrees(tx, caller, rootIds, revoking, at), revoked: rootIds.length };
}

/** Lets delegations and revocations of trees wait for the end of this transaction. Comes before locks of tokens. */
export const holdDelegations = (tx: Tx, { tenant }: Caller): Promise<void> => lockDelegation(tx, tenant);

/**
 * Revokes the grants that were delegated with a token, and everything delegated from them. The caller has called
 * `holdDelegations`.
 * @returns the acts, which the caller records
 */
export async function revokeGrantsOfToken(tx: Tx, caller: Caller, tokenId: string, at: Date): Promise<Act[]> {
  const rootIds = await listActiveIdsOfToken(tx, caller.tenant, tokenId);
  return rootIds.length === 0 ? [] : cutTrees(tx, caller, rootIds, { reason: 'token_revoked' }, at);
}

/**
 * Revokes trees of any size, in portions, since no statement takes long. The lock keeps the trees as they were read. The
 * caller holds `lockDelegation`.
 * @returns the acts, which the caller records: of each grant, and of each passport about a grant that lives on
 */
async function cutTrees(
  tx: Tx,
  caller: Caller,
  rootIds: readonly string[],
  revoking: Revoking,
  at: Date,
): Promise<Act[]> {
  const { tenant } = caller;
  const tree = await listActiveTree(tx, tenant, rootIds);
  const ids = tree.map(({ id }) => id).sort();
  const roots = new Set(rootIds);
  const { reason } = revoking;
  let living = 0;
  const beside: string[] = [];
  for (let done = 0; done < ids.length; done += SMALL) {
    const portion = ids.slice(done, done + SMALL);
    const isLast = done + SMALL >= ids.length;
    const branch = { ids: portion, rootIds: portion.filter((id) => roots.has(id)), at, reason };
    const fallen = await revokeBranch(tx, tenant, { ...branch, ...(isLast && { livingBefore: living }) });
    living += fallen.living;
    beside.push(...fallen.beside);
  }
  return [...actsOf(caller, tree, revoking), ...(await actsOfCredentials(tx, tenant, beside, new Set(ids)))];
}

/** Credentials that fell with those of other grants. The end of a grant says it for the grant's own. */
async function actsOfCredentials(
  tx: Tx,
  tenant: Tenant,
  ids: readonly string[],
  endedGrants: ReadonlySet<string>,
): Promise<Act[]> {
  const rows = ids.length === 0 ? [] : await listCredentials(tx, tenant, ids);
  const others = rows.filter(({ grantId }) => !endedGrants.has(grantId));
  return others.map(({ id: credentialId, format, ...about }): Act => {
    const type = format === 'agent-passport' ? 'passport.revoked' : 'vc.revoked';
    return { type, ...concerning(about), data: { credentialId } };
  });
}

/** How many grants ended with these acts. */
export const countEnded = (acts: readonly Act[]): number =>
  acts.filter(({ type }) => type === 'grant.revoked').length;

/** Each grant has its own act, so that a subscriber who follows one grant learns of its end. */
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
