import type { Caller } from '../../../platform/caller.ts';
import type { Clock } from '../../../platform/clock.ts';
import { type Executor, inTransaction } from '../../../platform/db/db.ts';
import { notFound } from '../../../platform/errors.ts';
import { byId, pageOf } from '../../../platform/paging.ts';
import { recordActs } from '../../record/audit/index.ts';
import { deleteStop, listStopRows, type StopRow } from './assertions.grants.repo.ts';
import type { Stop, StopPage, StopQuery } from './assertions.schema.ts';
import { stopReasonOf } from './assertions.stops.rules.ts';

interface Deps {
  readonly db: Executor;
  readonly clock: Clock;
}

export async function listStops({ db }: Deps, { tenant }: Caller, query: StopQuery): Promise<StopPage> {
  const { page, nextCursor } = pageOf(await listStopRows(db, tenant, query), byId, toStop);
  return { stops: page, nextCursor };
}

/** Lets the identity provider speak for the person to the agent again. @throws NOT_FOUND */
export function liftStop({ db, clock }: Deps, caller: Caller, stopId: string): Promise<void> {
  const at = clock();
  return inTransaction(db, async (tx) => {
    if (!(await deleteStop(tx, caller.tenant, stopId))) throw notFound();
    await recordActs(tx, caller, [{ type: 'sso.stop.deleted', data: { stopId } }], at);
  });
}

const toStop = ({ id, agentId, principalId, grantId, revokedReason, revokedAt }: StopRow): Stop => ({
  id,
  stopId: id,
  agentId,
  principalId,
  grantId,
  by: stopReasonOf(revokedReason),
  createdAt: (revokedAt ?? new Date(0)).toISOString(),
});
