import type { Tenant } from '../../../platform/caller.ts';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import { hasFoldedPrincipal } from '../../../platform/db/values.ts';

/** An authorization request, for queries that join other tables to it. */
export function requestOf(db: Executor, { developerId }: Tenant, requestId: string) {
  return db
    .selectFrom('authRequests as request')
    .selectAll('request')
    .where('request.developerId', '=', developerId)
    .where('request.id', '=', requestId);
}

/** Lets an exchange or a decision about the request wait for the end of this transaction. */
export async function holdRequest(tx: Tx, { developerId }: Tenant, requestId: string): Promise<void> {
  await tx
    .selectFrom('authRequests')
    .select('id')
    .where('developerId', '=', developerId)
    .where('id', '=', requestId)
    .forUpdate()
    .execute();
}

/** Requests as they were approved, to be joined by `request.requestId`. */
export function decidedRequestsOf(db: Executor, { developerId }: Tenant) {
  return db
    .selectFrom('authRequests')
    .select(['id as requestId', 'scopes', 'authorizationDetails', 'purpose', 'audience', 'redirectUri'])
    .select(['createdAt', 'decidedAt'])
    .select([
      'budgetAmount',
      'budgetUnits',
      'budgetCurrency',
      'expiresIn',
      'manifests',
      'client',
      'shownAgent',
      'scopeWords',
    ])
    .where('developerId', '=', developerId)
    .as('request');
}

/** All requests to a principal. */
export const requestsOfPrincipal = (db: Executor, { developerId }: Tenant, principalId: string) =>
  db.selectFrom('authRequests').where('developerId', '=', developerId).where('principalId', '=', principalId);

/** Requests that wait for their person. */
export function openRequests(
  db: Executor,
  { developerId }: Tenant,
): Promise<{ readonly id: string; readonly principalId: string }[]> {
  return db
    .selectFrom('authRequests')
    .select(['id', 'principalId'])
    .where('developerId', '=', developerId)
    .where('status', '=', 'pending')
    .execute();
}

/** The principals of open requests who have one of these ids, in any case. */
export async function principalsWithRequests(
  db: Executor,
  { developerId }: Tenant,
  ids: readonly string[],
): Promise<string[]> {
  const rows = await db
    .selectFrom('authRequests')
    .select('principalId')
    .distinct()
    .where('developerId', '=', developerId)
    .where('status', 'in', ['pending', 'approved'])
    .where(hasFoldedPrincipal(ids))
    .execute();
  return rows.map(({ principalId }) => principalId);
}
