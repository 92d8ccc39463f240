import type { Tenant } from '../../../platform/caller.ts';
import type { Executor } from '../../../platform/db/db.ts';

/** The address with which a principal signed in last, as the identity provider told it. */
export async function addressInSession(
  db: Executor,
  { developerId }: Tenant,
  principalId: string,
): Promise<string | undefined> {
  const row = await db
    .selectFrom('ssoSessions')
    .select('email')
    .where('developerId', '=', developerId)
    .where('principalId', '=', principalId)
    .where('email', 'is not', null)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row?.email ?? undefined;
}
