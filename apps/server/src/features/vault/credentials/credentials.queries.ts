import { type SqlBool, sql } from 'kysely';
import type { Tenant } from '../../../platform/caller.ts';
import type { Executor } from '../../../platform/db/db.ts';

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
    .where(sql<SqlBool>`lower(principal_id) = any(array(select lower(i) from unnest(${[...ids]}::text[]) i))`)
    .execute();
  return rows.map(({ principalId }) => principalId);
}
