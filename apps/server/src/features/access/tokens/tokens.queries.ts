import type { Tenant } from '../../../platform/caller.ts';
import type { Executor } from '../../../platform/db/db.ts';

/** Newest first, with one row more than the page holds. The service stores the text of no token. */
export function listTokensOfGrant(
  db: Executor,
  { developerId }: Tenant,
  grantId: string,
  { cursor, limit }: { cursor?: string; limit: number },
) {
  const all = db
    .selectFrom('tokens')
    .select(['id', 'issuedAt', 'expiresAt', 'revokedAt'])
    .where('developerId', '=', developerId)
    .where('grantId', '=', grantId);
  const page = cursor ? all.where('id', '<', cursor) : all;
  return page
    .orderBy('id', 'desc')
    .limit(limit + 1)
    .execute();
}
