import { type Act, concerning } from '../../../platform/acts.ts';
import { systemCaller } from '../../../platform/caller.ts';
import { inTransaction } from '../../../platform/db/db.ts';
import { listAgentDids } from '../../accounts/agents/agents.queries.ts';
import { recordActs } from '../../record/audit/index.ts';
import { expireRequests, listDueAcrossTenants } from './authorization.repo.ts';
import type { AuthorizationDeps } from './authorization.service.ts';

export type RequestExpiryDeps = Pick<AuthorizationDeps, 'db' | 'clock'>;

/** A batch, so that no transaction grows with how long nobody looked. */
const BATCH = 200;

const MOST_COUNTED = 1000;

/** How many requests wait for the noting below, up to a number that is too many anyway. */
export async function countOverdue({ db, clock }: RequestExpiryDeps): Promise<number> {
  return (await listDueAcrossTenants(db, clock(), MOST_COUNTED)).length;
}

/**
 * Notes of requests whose time is over that they have ended, so that whoever waits for them learns of it. What they
 * are allowed does not wait for this: it follows from the clock. @returns how many there may still be: 0 is none.
 */
export async function expireDueRequests({ db, clock }: RequestExpiryDeps): Promise<number> {
  const at = clock();
  const due = await listDueAcrossTenants(db, at, BATCH);
  for (const [developerId, requests] of Map.groupBy(due, (request) => request.developerId)) {
    const [account = { mode: 'live', plan: 'free' } as const] = requests;
    const caller = systemCaller({ developerId }, account, 'expiry');
    const ids = requests.map(({ id }) => id);
    await inTransaction(db, async (tx) => {
      const expired = await expireRequests(tx, caller.tenant, ids, at);
      if (expired.length === 0) return;
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
  return due.length < BATCH ? 0 : due.length;
}
