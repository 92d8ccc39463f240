import { sql } from 'kysely';
import type { Tenant } from '../../../platform/caller.ts';
import type { Tx } from '../../../platform/db/db.ts';

/**
 * The living grants that an exchange ends, whose request names this grant to be replaced. The caller holds the lock of
 * delegations, so that no other exchange ends them too.
 */
export async function listReplaced(
  tx: Tx,
  { developerId }: Tenant,
  grantId: string,
  at: Date,
): Promise<string[]> {
  const asked = sql<{ id: string }>`select id from find_replaced(${developerId}, ${grantId}, ${at})`;
  return (await asked.execute(tx)).rows.map(({ id }) => id);
}
