import type { Caller, PrincipalSession } from '../../../platform/caller.ts';
import type { Clock } from '../../../platform/clock.ts';
import { type Executor, inTransaction } from '../../../platform/db/db.ts';
import { AppError, mustNotBeMailed, notFound } from '../../../platform/errors.ts';
import { byId, pageOf } from '../../../platform/paging.ts';
import { findSessionCaller } from '../../people/principals/principals.queries.ts';
import { recordActs } from '../../record/audit/index.ts';
import { stopReasonOf } from './assertions.queries.ts';
import { deleteStop, listStopRows, type StopRow } from './assertions.repo.ts';
import type { AssertionStop, AssertionStopPage, AssertionStopQuery } from './assertions.schema.ts';

export interface StopDeps {
  readonly db: Executor;
  readonly clock: Clock;
}

export async function listStops(
  { db }: StopDeps,
  { tenant }: Caller,
  query: AssertionStopQuery,
): Promise<AssertionStopPage> {
  const { page, nextCursor } = pageOf(await listStopRows(db, tenant, query), byId, toStop);
  return { stops: page, nextCursor };
}

/** Lets the identity provider speak for the person to the agent again. @throws NOT_FOUND */
export function liftStop(deps: StopDeps, caller: Caller, stopId: string): Promise<void> {
  return lift(deps, caller, stopId);
}

/** The stops about the principal, made by any party. @throws UNAUTHORIZED when the session has ended */
export async function listOwnStops(
  deps: StopDeps,
  session: PrincipalSession,
  query: AssertionStopQuery,
): Promise<AssertionStopPage> {
  const { tenant } = await callerIn(deps, session);
  const rows = await listStopRows(deps.db, tenant, query, session.principalId);
  const { page, nextCursor } = pageOf(rows, byId, toStop);
  return { stops: page, nextCursor };
}

/**
 * Takes back that the principal ended an agent's grant. A stop that somebody else has made holds.
 * @throws UNAUTHORIZED when the session has ended, NOT_FOUND for a stop that is not the principal's own,
 * PRINCIPAL_VERIFICATION_REQUIRED in a session of a mailed link
 */
export async function liftOwnStop(deps: StopDeps, session: PrincipalSession, stopId: string): Promise<void> {
  const caller = await callerIn(deps, session);
  mustNotBeMailed(session);
  return lift(deps, caller, stopId, session.principalId);
}

function lift({ db, clock }: StopDeps, caller: Caller, stopId: string, principalId?: string): Promise<void> {
  const at = clock();
  const about = principalId === undefined ? {} : { principalId };
  return inTransaction(db, async (tx) => {
    if (!(await deleteStop(tx, caller.tenant, stopId, principalId))) throw notFound();
    await recordActs(tx, caller, [{ type: 'sso.stop.deleted', ...about, data: { stopId } }], at);
  });
}

/** @throws UNAUTHORIZED when the session has ended */
async function callerIn({ db, clock }: StopDeps, session: PrincipalSession): Promise<Caller> {
  const caller = await findSessionCaller(db, session, clock());
  if (!caller) throw new AppError('UNAUTHORIZED', 'The session has ended.');
  return caller;
}

const toStop = ({
  id,
  agentId,
  agentName,
  principalId,
  grantId,
  revokedReason,
  revokedAt,
}: StopRow): AssertionStop => ({
  id,
  stopId: id,
  agentId,
  agentName,
  principalId,
  grantId,
  by: stopReasonOf(revokedReason),
  createdAt: (revokedAt ?? new Date(0)).toISOString(),
});
