import type { Caller } from '../../../platform/caller.ts';
import type { Clock } from '../../../platform/clock.ts';
import type { Executor } from '../../../platform/db/db.ts';
import { notFound } from '../../../platform/errors.ts';
import { byId, pageOf } from '../../../platform/paging.ts';
import { findGrant } from '../grants/grants.queries.ts';
import { listTokensOfGrant } from './tokens.queries.ts';
import type { TokenPage, TokenQuery } from './tokens.schema.ts';

interface ListDeps {
  readonly db: Executor;
  readonly clock: Clock;
}

/** @throws NOT_FOUND */
export async function listTokens(
  deps: ListDeps,
  caller: Caller,
  grantId: string,
  query: TokenQuery,
): Promise<TokenPage> {
  const grant = await findGrant(deps.db, caller, grantId);
  if (!grant) throw notFound();
  const rows = await listTokensOfGrant(deps.db, caller.tenant, grantId, query);
  const now = deps.clock();
  const { page, nextCursor } = pageOf(rows, byId, (token) => {
    const { status, revokedAt } = tokenStatus(token, grant.revokedAt, now);
    return {
      tokenId: token.id,
      issuedAt: token.issuedAt.toISOString(),
      expiresAt: token.expiresAt.toISOString(),
      status,
      ...(revokedAt && { revokedAt: revokedAt.toISOString() }),
    };
  });
  return { tokens: page, nextCursor };
}

/** A token counts as revoked when the token itself or its grant is revoked. */
function tokenStatus(
  token: { readonly revokedAt: Date | null; readonly expiresAt: Date },
  grantRevokedAt: Date | null,
  now: Date,
): { status: TokenPage['tokens'][number]['status']; revokedAt?: Date } {
  const revokedAt = token.revokedAt ?? grantRevokedAt;
  if (revokedAt) return { status: 'revoked', revokedAt };
  return { status: token.expiresAt <= now ? 'expired' : 'active' };
}
