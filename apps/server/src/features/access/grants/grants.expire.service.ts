import { type Announcement, concerning } from '../../../platform/acts.ts';
import { systemCaller } from '../../../platform/caller.ts';
import type { Clock } from '../../../platform/clock.ts';
import { type Executor, inTransaction } from '../../../platform/db/db.ts';
import { announceToAll } from '../../record/audit/index.ts';
import { listUnannouncedExpiriesAcrossTenants, markExpiryAnnounced } from './grants.repo.ts';

export interface GrantExpiryDeps {
  readonly db: Executor;
  readonly clock: Clock;
}

/** A batch, so that no transaction grows with how long nobody looked. */
const BATCH = 200;

/**
 * Tells subscribers of grants that have run out. Nothing waits for it: that a grant has run out follows from the
 * clock, and is no act, so it has no audit entry. @returns how many there may still be: 0 is none.
 */
export async function announceExpiredGrants({ db, clock }: GrantExpiryDeps): Promise<number> {
  const at = clock();
  const due = await listUnannouncedExpiriesAcrossTenants(db, at, BATCH);
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
  return due.length < BATCH ? 0 : due.length;
}
