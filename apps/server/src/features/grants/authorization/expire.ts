import { type Act, concerning } from '../../../platform/acts.ts';
import { systemCaller } from '../../../platform/caller.ts';
import { inTransaction } from '../../../platform/db/db.ts';
import { listAgentDids } from '../../accounts/agents/agents.queries.ts';
import { recountQuota } from '../../accounts/quotas/index.ts';
import { recordActs } from '../../record/audit/index.ts';
import { expireRequests, listDueAcrossTenants } from './authorization.repo.ts';
import type { AuthorizationDeps } from './deps.ts';

export interface RequestExpiryDeps extends Pick<AuthorizationDeps, 'db' | 'clock'> {
  /** The most requests in one transaction, so that a backlog makes no transaction longer. */
  readonly batch?: number;
}

const BATCH = 200;

const MAX_COUNTED = 1000;

/**
 * How many overdue requests are not recorded as expired yet. Stops counting at a number that is far too high.
 */
export async function countOverdue({ db, clock }: RequestExpiryDeps): Promise<number> {
  return (await listDueAcrossTenants(db, clock(), MAX_COUNTED)).length;
}

/**
 * Records overdue requests as expired, so that subscribers learn of it. No decision depends on it, because
 * expiry follows from the clock. @returns 0 when no overdue request is left.
 */
export async function expireDueRequests({ db, clock, batch = BATCH }: RequestExpiryDeps): Promise<number> {
  const at = clock();
  const due = await listDueAcrossTenants(db, at, batch);
  for (const [developerId, requests] of Map.groupBy(due, (request) => request.developerId)) {
    const [account = { mode: 'live', plan: 'free' } as const] = requests;
    const caller = systemCaller({ developerId }, account, 'expiry');
    const ids = requests.map(({ id }) => id);
    await inTransaction(db, async (tx) => {
      const expired = await expireRequests(tx, caller.tenant, ids, at);
      if (expired.length === 0) return;
      // Not so many less: an exact count may have left them out already.
      await recountQuota(tx, caller, 'open_requests', at);
      const dids = await listAgentDids(tx, caller.tenant, [
        ...new Set(expired.map(({ agentId }) => agentId)),
      ]);
      const acts = expired.map((request): Act => {
        const about = concerning({ ...request, agentDid: dids.get(request.agentId) });
        return { type: 'authorization.expired', ...about, data: { authRequestId: request.id } };
      });
      await recordActs(tx, caller, acts, at);
    });
  }
  return due.length < batch ? 0 : due.length;
}
