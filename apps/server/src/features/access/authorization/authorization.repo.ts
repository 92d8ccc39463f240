import { type Selectable, sql } from 'kysely';
import type { Tenant } from '../../../platform/caller.ts';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import type { Records } from '../../../platform/db/records.ts';
import { row } from '../../../platform/db/row.ts';
import type { AuthRequests } from '../../../platform/db/types.gen.ts';
import { agentsOf, sharedAgents } from '../../accounts/agents/agents.queries.ts';
import { developerOf, developersAcrossTenants } from '../../accounts/developers/developers.queries.ts';
import { quotaUse } from '../../accounts/quotas/quotas.queries.ts';

export type RequestRow = Selectable<AuthRequests>;

/** The facts that decide whether a request is accepted, in one read. */
export function findAsker(db: Executor, tenant: Tenant, agentId: string) {
  return db
    .selectFrom(developerOf(db, tenant))
    .leftJoin(agentsOf(db, tenant), (join) => join.on('agent.agentId', '=', agentId))
    .leftJoin(quotaUse(db, tenant, 'active_grants'), (join) => join.onTrue())
    .select([
      'developer.redirectUris',
      'developer.enforceAgentScopes',
      'developer.consentMode',
      'developer.consentKeys',
      'agent.agentDid',
      'agent.agentStatus',
      'agent.agentScopes',
      'quota.used as activeGrants',
    ])
    .executeTakeFirstOrThrow();
}

/** A hot write. @returns what the agent has become meanwhile, when nothing was written for that reason. */
export function requestAuthorization(
  db: Executor,
  tenant: Tenant,
  at: Date,
  request: Omit<RequestRow, 'developerId'>,
  records: Records,
): Promise<'suspended' | 'revoked' | null> {
  const { developerId } = tenant;
  const columns = row({ ...request, developerId });
  return records.writeUnlessRefused(db, {
    tenant,
    at,
    fact: sql<'suspended' | 'revoked'>`write_request(${developerId}, ${columns})`,
    locks: [[sharedAgents, [request.agentId]]],
  });
}

export function findRequest(db: Executor, { developerId }: Tenant, requestId: string) {
  return db
    .selectFrom('authRequests')
    .selectAll()
    .where('developerId', '=', developerId)
    .where('id', '=', requestId)
    .executeTakeFirst();
}

/** Locks the row: of two decisions at once, the second sees what the first has done. */
export function lockRequest(tx: Tx, { developerId }: Tenant, requestId: string) {
  return tx
    .selectFrom('authRequests')
    .selectAll()
    .where('developerId', '=', developerId)
    .where('id', '=', requestId)
    .forUpdate()
    .executeTakeFirst();
}

type Decision = Partial<Omit<RequestRow, 'authorizationDetails'>> & {
  readonly authorizationDetails?: string | null;
};

export function updateRequest(tx: Tx, { developerId }: Tenant, requestId: string, decision: Decision) {
  return tx
    .updateTable('authRequests')
    .set(decision)
    .where('developerId', '=', developerId)
    .where('id', '=', requestId)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Counts, where the row is, so that no two guesses are one. */
export async function countWrongVerifier(tx: Tx, { developerId }: Tenant, requestId: string): Promise<void> {
  await tx
    .updateTable('authRequests')
    .set(({ eb }) => ({ wrongVerifiers: eb('wrongVerifiers', '+', 1) }))
    .where('developerId', '=', developerId)
    .where('id', '=', requestId)
    .where('status', '=', 'approved')
    .execute();
}

/** Everything that the agent still asks for, or was allowed and has not fetched. What is too late has ended. */
export function cancelRequestsOf(tx: Tx, { developerId }: Tenant, agentId: string, at: Date) {
  return tx
    .updateTable('authRequests')
    .set({ status: 'cancelled', decidedAt: at })
    .where('developerId', '=', developerId)
    .where('agentId', '=', agentId)
    .where(({ and, eb, or }) =>
      or([
        and([eb('status', '=', 'pending'), eb('expiresAt', '>', at)]),
        and([eb('status', '=', 'approved'), eb('codeExpiresAt', '>', at)]),
      ]),
    )
    .returning(['id', 'principalId', 'purpose'])
    .execute();
}

const dueAt = sql<Date>`coalesce(code_expires_at, expires_at)`;

/** Requests whose time is over and of which nobody has noted it, the longest over first. */
export function listDueAcrossTenants(db: Executor, at: Date, limit: number) {
  return db
    .selectFrom('authRequests as request')
    .innerJoin(developersAcrossTenants(db), 'developer.developerId', 'request.developerId')
    .select(['request.id', 'request.developerId', 'developer.mode', 'developer.plan'])
    .where('request.status', 'in', ['pending', 'approved'])
    .where(dueAt, '<=', at)
    .orderBy(dueAt)
    .limit(limit)
    .execute();
}

/** Those of the requests that are still open, though their time is over; of two instances at once, one gets each. */
export function expireRequests(tx: Tx, { developerId }: Tenant, requestIds: readonly string[], at: Date) {
  return tx
    .updateTable('authRequests')
    .set({ status: 'expired' })
    .where('developerId', '=', developerId)
    .where('id', 'in', [...requestIds].sort())
    .where('status', 'in', ['pending', 'approved'])
    .where(dueAt, '<=', at)
    .returning(['id', 'agentId', 'principalId', 'purpose'])
    .execute();
}
