import type { Caller } from '../../../platform/caller.ts';
import { oauthRefusal } from '../../../platform/errors.ts';
import { limitingResources } from '../resources/resources.queries.ts';
import { audiencesOf, formOf, type TokenForm, type TokenWish } from './form.rules.ts';
import type { TokenDeps } from './issue.ts';

/**
 * The form of a token for an OAuth client; a native call has no wish. A resource may take bound tokens alone: then the
 * client has to send a proof of its key.
 * @throws invalid_scope, invalid_target, invalid_dpop_proof
 */
export async function wishedForm(
  { db, issuer }: Pick<TokenDeps, 'db' | 'issuer'>,
  { tenant }: Caller,
  wish: TokenWish | undefined,
  grant: Parameters<typeof formOf>[1],
): Promise<TokenForm> {
  const form = formOf(wish, grant, issuer);
  const audience = form.audience ?? grant.audience ?? issuer;
  if (!wish || wish.keyThumbprint !== undefined || audience === issuer) return form;
  const resources = await limitingResources(db, tenant, audiencesOf(audience));
  if (resources.some(({ dpopRequired }) => dpopRequired)) {
    throw oauthRefusal('invalid_dpop_proof', 'The resource takes bound tokens alone: send a `DPoP` proof.');
  }
  return form;
}
