import type { Act } from '../../../platform/acts.ts';
import type { Caller } from '../../../platform/caller.ts';
import { inTransaction } from '../../../platform/db/db.ts';
import { record } from '../../record/audit/index.ts';
import { expireRequests, listAgentDids, listDueAcrossTenants } from './authorization.repo.ts';
import type { AuthorizationDeps } from './authorization.service.ts';

export type ExpiryDeps = Pick<AuthorizationDeps, 'db' | 'clock'>;

/** A batch, so that no transaction grows with how long nobody looked. */
const BATCH = 200;

const MOST_COUNTED = 1000;

/** How many requests wait for the noting below, up to a number that is too many anyway. */
export async function countOverdue({ db, clock }: ExpiryDeps): Promise<number> {
  return (await listDueAcrossTenants(db, clock(), MOST_COUNTED)).length;
}

/**
 * Notes of requests whose time is over that they have ended, so that whoever waits for them learns of it. What they
 * are allowed does not wait for this: it follows from the clock. @returns how many there may still be: 0 is none.
 */
export async function expireDueRequests({ db, clock }: ExpiryDeps): Promise<number> {
  const at = clock();
  const due = await listDueAcrossTenants(db, at, BATCH);
  for (const [developerId, requests] of Map.groupBy(due, (request) => request.developerId)) {
    const [{ mode, plan } = { mode: 'live', plan: 'free' } as const] = requests;
    const caller: Caller = {
      tenant: { developerId },
      actor: 'system',
      role: 'full',
      mode,
      plan,
      requestId: 'expiry',
    };
    const ids = requests.map(({ id }) => id);
    await inTransaction(db, async (tx) => {
      const expired = await expireRequests(tx, caller.tenant, ids, at);
      if (expired.length === 0) return;
      const dids = await listAgentDids(tx, caller.tenant, [
        ...new Set(expired.map(({ agentId }) => agentId)),
      ]);
      const acts = expired.map(({ id, agentId, principalId, purpose }): Act => {
        const agentDid = dids.get(agentId);
        const about = { agentId, principalId, ...(agentDid && { agentDid }), ...(purpose && { purpose }) };
        return { type: 'authorization.expired', ...about, data: { authRequestId: id } };
      });
      await record(tx, caller, acts, at);
    });
  }
  return due.length < BATCH ? 0 : due.length;
}
