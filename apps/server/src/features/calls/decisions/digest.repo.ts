import type { Tenant } from '../../../platform/caller.ts';
import type { Executor } from '../../../platform/db/db.ts';
import type { NoticeRow } from './notices.repo.ts';

/** The time at which the next digest of an approver is sent, where one waits. */
export async function gatheredUntil(
  db: Executor,
  { developerId }: Tenant,
  approverId: string,
  at: Date,
): Promise<Date | undefined> {
  const found = await db
    .selectFrom('decisionNotices')
    .select('nextAttemptAt')
    .where('developerId', '=', developerId)
    .where('approverId', '=', approverId)
    .where('isGathered', '=', true)
    .where('nextAttemptAt', '>', at)
    .limit(1)
    .executeTakeFirst();
  return found?.nextAttemptAt;
}

/** Lets a notice wait for a digest. */
export const gatherNotice = (db: Executor, tenant: Tenant, id: string, until: Date): Promise<void> =>
  regather(db, tenant, [id], until);

export async function regather(
  db: Executor,
  { developerId }: Tenant,
  ids: readonly string[],
  until: Date,
): Promise<void> {
  await db
    .updateTable('decisionNotices')
    .set({ isGathered: true, nextAttemptAt: until, attempts: 0 })
    .where('developerId', '=', developerId)
    .where('id', 'in', [...ids, ''])
    .execute();
}

/** Takes all that is due for one digest. The second of two processes finds nothing due. */
export async function claimGathered(
  db: Executor,
  { developerId }: Tenant,
  approverId: string,
  at: Date,
  until: Date,
): Promise<NoticeRow[]> {
  const claimed = await db
    .updateTable('decisionNotices')
    .set((row) => ({ nextAttemptAt: until, attempts: row('attempts', '+', 1) }))
    .where('developerId', '=', developerId)
    .where('approverId', '=', approverId)
    .where('isGathered', '=', true)
    .where('nextAttemptAt', '<=', at)
    .returningAll()
    .execute();
  return claimed.sort((one, other) => (one.id < other.id ? -1 : 1));
}
