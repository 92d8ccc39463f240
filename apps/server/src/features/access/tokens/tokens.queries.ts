import type { Tenant } from '../../../platform/caller.ts';
import type { Executor } from '../../../platform/db/db.ts';
import { readPage } from '../../../platform/db/page-rows.ts';

/** Newest first. The service stores the text of no token. */
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
  return readPage(db, page.orderBy('id', 'desc'), limit);
}
