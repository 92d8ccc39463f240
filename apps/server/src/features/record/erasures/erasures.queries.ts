import type { Tenant } from '../../../platform/caller.ts';
import type { Executor } from '../../../platform/db/db.ts';

/** Whether an erasure still runs: its entry in the chain is written at its end. */
export async function isUnfinished(db: Executor, { developerId }: Tenant, id: string): Promise<boolean> {
  const erasure = await db
    .selectFrom('auditErasures')
    .select('id')
    .where('developerId', '=', developerId)
    .where('id', '=', id)
    .where('finishedAt', 'is', null)
    .executeTakeFirst();
  return erasure !== undefined;
}
