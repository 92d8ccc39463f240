import type { GrantHolder } from '../../../platform/caller.ts';
import { audiencesOf } from './tokens.form.rules.ts';
import { findHeldToken } from './tokens.holder.repo.ts';
import { assess, type LookUpDeps } from './tokens.look-up.service.ts';

type HolderDeps = Pick<LookUpDeps, 'db' | 'clock' | 'issuer' | 'verifyOwn'>;

/** The holder that a grant token proves, or the reason why it proves none. The reason is for the log alone. */
type Read = Omit<GrantHolder, 'requestId'> | { readonly refusal: string };

/**
 * Reads the token of a call that an agent makes with it. The database decides whether it is still good, so the first
 * call after a revocation is refused.
 */
export function holderReader(deps: HolderDeps) {
  return async (token: string): Promise<Read> => {
    const now = deps.clock();
    const verified = deps.verifyOwn(token, now);
    if (!verified.ok) return { refusal: verified.reason };
    const { claims } = verified;
    // The proof of possession (RFC 9449) is not taken yet, and a bound token is worth nothing without it.
    if (claims.keyThumbprint !== undefined) return { refusal: 'dpop_required' };
    const tenant = { developerId: claims.developerId };
    const found = await findHeldToken(deps.db, tenant, claims.tokenId, now);
    if (!found) return { refusal: 'unknown' };
    const { row, reason } = assess({ verified, isExpired: false }, found, found, now);
    if (!row) return { refusal: 'claims_differ' };
    if (reason) return { refusal: reason };
    // A token for another resource server alone is not for this service: that server could replay it here.
    if (row.audience !== null && !audiencesOf(row.audience).includes(deps.issuer))
      return { refusal: 'audience' };
    const { tokenId, id: grantId, agentId, agentDid, principalId, purpose, scopes } = row;
    const { authorizationDetails, parentGrantId, mode, plan } = row;
    const caller = {
      tenant,
      agentIds: [agentId],
      actor: `agent:${agentId}`,
      role: 'runtime',
      mode,
      plan,
    } as const;
    const held = { tokenId, grantId, parentGrantId, agentId, agentDid, principalId, purpose, scopes };
    return { ...caller, ...held, authorizationDetails };
  };
}
