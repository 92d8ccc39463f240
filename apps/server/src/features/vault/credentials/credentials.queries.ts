import type { Tenant } from '../../../platform/caller.ts';
import type { Executor } from '../../../platform/db/db.ts';
import { hasFoldedPrincipal } from '../../../platform/db/folded-ids.ts';

/** The principals of stored credentials who have one of these ids, in any case. */
export async function principalsWithCredentials(
  db: Executor,
  { developerId }: Tenant,
  ids: readonly string[],
): Promise<string[]> {
  const rows = await db
    .selectFrom('vaultCredentials')
    .select('principalId')
    .distinct()
    .where('developerId', '=', developerId)
    .where(hasFoldedPrincipal(ids))
    .execute();
  return rows.map(({ principalId }) => principalId);
}

/** The connected accounts of a principal that are not being disconnected. */
export function connectionsOfPrincipal(db: Executor, { developerId }: Tenant, principalId: string) {
  return db
    .selectFrom('vaultCredentials')
    .where('developerId', '=', developerId)
    .where('principalId', '=', principalId)
    .where('connection', 'is not', null)
    .where('disconnectingAt', 'is', null);
}
