import type { Caller } from '../../platform/caller.ts';
import { inTransaction } from '../../platform/db/db.ts';
import { badField, notFound } from '../../platform/errors.ts';
import { record } from '../audit/index.ts';
import type { TokenDeps } from './tokens.issue.service.ts';
import { lockToken, markTokenRevoked } from './tokens.repo.ts';
import type { Revoke } from './tokens.schema.ts';
import { tokenIdOf } from './tokens.verify.service.ts';

/**
 * Ends one token; its grant and refresh token go on. Harmless to repeat.
 * @throws NOT_FOUND for an unknown token and for a foreign one alike, BAD_REQUEST unless one way to name it is sent
 */
export async function revokeToken(deps: TokenDeps, caller: Caller, { jti, token }: Revoke): Promise<void> {
  if (jti === undefined && token === undefined) throw badField('jti', 'required');
  if (jti !== undefined && token !== undefined) throw badField('token', 'not_allowed');
  const tokenId = token === undefined ? jti : await tokenIdOf(deps, caller, token);
  if (tokenId === undefined) throw notFound();
  const at = deps.clock();

  await inTransaction(deps.db, async (tx) => {
    const found = await lockToken(tx, caller.tenant, tokenId);
    if (!found) throw notFound();
    if (found.revokedAt || found.grantStatus === 'revoked') return;
    await markTokenRevoked(tx, caller.tenant, tokenId, at);
    const { grantId, agentId, agentDid, principalId, purpose } = found;
    const about = { grantId, agentId, agentDid, principalId, ...(purpose && { purpose }) };
    await record(tx, caller, [{ type: 'token.revoked', ...about, data: { tokenId } }], at);
  });
}
