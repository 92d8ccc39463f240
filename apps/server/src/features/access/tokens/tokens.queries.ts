import type { Tenant } from '../../../platform/caller.ts';
import type { Executor } from '../../../platform/db/db.ts';

/** Newest first, one more than asked for. Never the text of a token, which is nowhere. */
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
