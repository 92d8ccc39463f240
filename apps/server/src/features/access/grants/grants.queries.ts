import { sql } from 'kysely';
import type { Tenant } from '../../../platform/caller.ts';
import type { Executor } from '../../../platform/db/db.ts';
import type { GroupLock } from '../../../platform/db/hot-writes.ts';
import { agentsOf } from '../../accounts/agents/agents.queries.ts';

/** For hot writes that cut a tree of grants. Before `sharedDelegation`: a shared lock never has to become this one. */
export const ownDelegation: GroupLock = {
  turn: 2,
  take: ({ developerId }) => sql`lock_delegation(${developerId})`,
};

/** For hot writes that add a branch. */
export const sharedDelegation: GroupLock = {
  turn: 3,
  take: ({ developerId }) => sql`share_delegation(${developerId})`,
};

/** The tenant's grants, each with its agent's DID, which every answer about a grant shows. */
export function grantsWithAgent(db: Executor, tenant: Tenant) {
  return db
    .selectFrom('grants as grant')
    .innerJoin(agentsOf(db, tenant), 'agent.agentId', 'grant.agentId')
    .selectAll('grant')
    .select('agent.agentDid')
    .where('grant.developerId', '=', tenant.developerId);
}

export function findGrant(db: Executor, tenant: Tenant, grantId: string) {
  return grantsWithAgent(db, tenant).where('grant.id', '=', grantId).executeTakeFirst();
}

export function grantsOfPrincipal(db: Executor, { developerId }: Tenant, principalId: string) {
  return db
    .selectFrom('grants')
    .where('developerId', '=', developerId)
    .where('principalId', '=', principalId);
}

/** The principal's grants that are neither revoked nor expired. */
export function livingGrantsOfPrincipal(db: Executor, tenant: Tenant, principalId: string, now: Date) {
  return grantsOfPrincipal(db, tenant, principalId)
    .where('status', '=', 'active')
    .where('expiresAt', '>', now);
}
