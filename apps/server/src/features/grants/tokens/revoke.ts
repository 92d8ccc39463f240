import { timingSafeEqual } from 'node:crypto';
import { type Act, concerning } from '../../../platform/acts.ts';
import type { Caller } from '../../../platform/caller.ts';
import { inTransaction } from '../../../platform/db/db.ts';
import { badField, notFound } from '../../../platform/errors.ts';
import { hashOf } from '../../../platform/ids.ts';
import { recordActs } from '../../record/audit/index.ts';
import { holdDelegations, revokeGrant, revokeGrantsOfToken } from '../grants/index.ts';
import { findGenuine, type LookUpDeps } from './look-up.ts';
import { findRefreshable, lockToken, markTokenRevoked } from './tokens.repo.ts';
import { refreshIdOf } from './tokens.rules.ts';
import type { RevokeTokenRequest } from './tokens.schema.ts';

/**
 * Ends one token, and the grants that were delegated with it; its own grant and refresh token stay valid. A repeated
 * call changes nothing.
 * @throws NOT_FOUND for an unknown token and for another developer's, BAD_REQUEST unless either `jti` or
 * `token` is sent
 */
export async function revokeToken(
  deps: LookUpDeps,
  caller: Caller,
  { jti, token }: RevokeTokenRequest,
): Promise<void> {
  if (jti === undefined && token === undefined) throw badField('jti', 'required');
  if (jti !== undefined && token !== undefined) throw badField('token', 'not_allowed');
  const at = deps.clock();
  const tokenId = token === undefined ? jti : findGenuine(deps, token, at)?.verified.claims.tokenId;
  if (tokenId === undefined) throw notFound();

  await inTransaction(deps.db, async (tx) => {
    await holdDelegations(tx, caller);
    const found = await lockToken(tx, caller, tokenId);
    if (!found) throw notFound();
    if (found.revokedAt || found.grantStatus === 'revoked') return;
    await markTokenRevoked(tx, caller.tenant, tokenId, at);
    const revoked: Act = { type: 'token.revoked', ...concerning(found), data: { tokenId } };
    const ended = await revokeGrantsOfToken(tx, caller, tokenId, at);
    await recordActs(tx, caller, [revoked, ...ended], at);
  });
}

/**
 * Ends the grant of a refresh token, with all its tokens and what was delegated from it. Any other text changes nothing,
 * and the answers are the same.
 */
export async function revokeByRefreshToken(deps: LookUpDeps, caller: Caller, token: string): Promise<void> {
  const refreshId = refreshIdOf(token);
  const found = refreshId && (await findRefreshable(deps.db, caller, refreshId, deps.clock()));
  if (!found || !timingSafeEqual(found.refreshHash, hashOf(token))) return;
  await revokeGrant(deps, caller, found.id, { reason: 'client' });
}
