import type { Tenant } from '../../../platform/caller.ts';
import type { Executor } from '../../../platform/db/db.ts';
import { hasFoldedPrincipal } from '../../../platform/db/folded-ids.ts';

/** The principals of passkeys who have one of these ids, in any case. */
export async function principalsWithPasskeys(
  db: Executor,
  { developerId }: Tenant,
  ids: readonly string[],
): Promise<string[]> {
  const rows = await db
    .selectFrom('passkeys')
    .select('principalId')
    .distinct()
    .where('developerId', '=', developerId)
    .where(hasFoldedPrincipal(ids))
    .execute();
  return rows.map(({ principalId }) => principalId);
}
