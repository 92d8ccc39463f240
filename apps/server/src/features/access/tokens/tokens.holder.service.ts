import type { GrantHolder, ShownToken } from '../../../platform/caller.ts';
import { AppError } from '../../../platform/errors.ts';
import { audiencesOf } from './tokens.form.rules.ts';
import { findHeldToken } from './tokens.holder.repo.ts';
import { assess, type LookUpDeps } from './tokens.look-up.service.ts';
import { currentNonce, type ProofDeps, provedKey } from './tokens.proof.service.ts';

type HolderDeps = Pick<LookUpDeps, 'db' | 'clock' | 'issuer' | 'verifyOwn'> & ProofDeps;

/** Why a token proves nothing, for the log alone, and the nonce that the next proof needs. */
interface Refused {
  readonly refusal: string;
  readonly nonce?: string;
}

/** The holder that a grant token proves. */
type Read = Omit<GrantHolder, 'requestId'> | Refused;

/**
 * Reads the token of a call that an agent makes with it. The database decides whether it is still good, so the first
 * call after a revocation is refused.
 */
export function holderReader(deps: HolderDeps) {
  return async (shown: ShownToken): Promise<Read> => {
    const { token } = shown;
    const now = deps.clock();
    const verified = deps.verifyOwn(token, now);
    if (!verified.ok) return { refusal: verified.reason };
    const { claims } = verified;
    const tenant = { developerId: claims.developerId };
    const found = await findHeldToken(deps.db, tenant, claims.tokenId, now);
    if (!found) return { refusal: 'unknown' };
    const { row, reason } = assess({ verified, isExpired: false }, found, found, now);
    if (!row) return { refusal: 'claims_differ' };
    if (reason) return { refusal: reason };
    // A token for another resource server alone is not for this service: that server could replay it here.
    if (row.audience !== null && !audiencesOf(row.audience).includes(deps.issuer))
      return { refusal: 'audience' };
    const refused = await refusedProof(deps, shown, claims.keyThumbprint);
    if (refused) return refused;
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

/** A bound token needs the scheme `DPoP` and a proof of its key; an unbound one is a bearer. @see RFC 9449 §7 */
async function refusedProof(
  deps: ProofDeps,
  { token, scheme, proof }: ShownToken,
  bound: string | undefined,
): Promise<Refused | undefined> {
  if (bound === undefined) return scheme === 'Bearer' ? undefined : { refusal: 'not_bound' };
  if (scheme === 'Bearer') return { refusal: 'dpop_required' };
  try {
    const proved = await provedKey(deps, { ...proof, accessToken: token });
    return proved === bound ? undefined : { refusal: 'another_key' };
  } catch (error) {
    if (!(error instanceof AppError) || error.status >= 500) throw error;
    const { oauth } = Object(error.details);
    return { refusal: error.message, ...(oauth === 'use_dpop_nonce' && { nonce: currentNonce(deps) }) };
  }
}
