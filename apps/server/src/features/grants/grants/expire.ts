import { type Announcement, concerning } from '../../../platform/acts.ts';
import { systemCaller } from '../../../platform/caller.ts';
import type { Clock } from '../../../platform/clock.ts';
import { type Executor, inTransaction } from '../../../platform/db/db.ts';
import { announceToAll } from '../../record/audit/index.ts';
import { listUnannouncedExpiriesAcrossTenants, markExpiryAnnounced } from './grants.repo.ts';

export interface GrantExpiryDeps {
  readonly db: Executor;
  readonly clock: Clock;
  /** The most grants in one transaction, so that a backlog makes no transaction longer. */
  readonly batch?: number;
}

const BATCH = 200;

/**
 * Announces expired grants. Nothing else depends on it, because expiry follows from the clock. An expiry is
 * not an act, so it has no audit entry. @returns 0 when no expired grant is left to announce.
 */
export async function announceExpiredGrants({ db, clock, batch = BATCH }: GrantExpiryDeps): Promise<number> {
  const at = clock();
  const due = await listUnannouncedExpiriesAcrossTenants(db, at, batch);
  for (const [developerId, grants] of Map.groupBy(due, (grant) => grant.developerId)) {
    const [account = { mode: 'live', plan: 'free' } as const] = grants;
    const caller = systemCaller({ developerId }, account, 'expiry');
    const ids = grants.map(({ id }) => id);
    await inTransaction(db, async (tx) => {
      const expired = await markExpiryAnnounced(tx, caller.tenant, ids, at);
      if (expired.length === 0) return;
      const announcements = expired.map((grant): Announcement => {
        const about = concerning({ ...grant, grantId: grant.id });
        return { type: 'grant.expired', ...about, data: { expiresAt: grant.expiresAt.toISOString() } };
      });
      await announceToAll(tx, caller, announcements, at);
    });
  }
  return due.length < batch ? 0 : due.length;
}
