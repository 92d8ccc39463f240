import type { Tenant } from '../../../platform/caller.ts';
import type { Executor } from '../../../platform/db/db.ts';

/** Whether an agent of the tenant is an OAuth client. */
export async function isOAuthClient(
  db: Executor,
  { developerId }: Tenant,
  agentId: string,
): Promise<boolean> {
  const row = await db
    .selectFrom('oauthClients')
    .select('agentId')
    .where('developerId', '=', developerId)
    .where('agentId', '=', agentId)
    .executeTakeFirst();
  return row !== undefined;
}
