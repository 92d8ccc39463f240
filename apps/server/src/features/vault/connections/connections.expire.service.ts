import { systemCaller } from '../../../platform/caller.ts';
import { inTransaction } from '../../../platform/db/db.ts';
import { recordActs } from '../../record/audit/index.ts';
import type { ConnectDeps } from './connections.deps.service.ts';
import { endSession, revokeReturned } from './connections.end.service.ts';
import { listDueSessionsAcrossTenants } from './connections.repo.ts';

const BATCH = 100;

/**
 * Records open sessions as expired, and erases the tokens that nobody confirmed. No decision depends on it, because
 * expiry follows from the clock.
 */
export async function expireSessions(deps: ConnectDeps, signal: AbortSignal): Promise<void> {
  const at = deps.clock();
  for (const row of await listDueSessionsAcrossTenants(deps.db, at, BATCH)) {
    if (signal.aborted) return;
    const caller = systemCaller(
      { developerId: row.developerId },
      { mode: 'live', plan: 'free' },
      'expiry of connect sessions',
    );
    const ended = await inTransaction(deps.db, async (tx) => {
      const acts = await endSession(tx, caller, row.id, { to: 'expired', reason: 'expired', at });
      if (acts.length > 0) await recordActs(tx, caller, acts, at);
      return acts.length > 0;
    });
    if (ended) await revokeReturned(deps, row);
  }
}
