import { createKindVerifier } from '@behest/protocol/kind-verifier';
import { namesResource } from '@behest/protocol/resource-uri';
import type { VerifiedGrant } from '@behest/protocol/token-verifier';
import type { GrantHolder, ShownToken } from '../../../platform/caller.ts';
import { AppError } from '../../../platform/errors.ts';
import { verifySignature } from '../../service/keys/index.ts';
import { assess, type LookUpDeps, verificationRefusal } from './look-up.ts';
import { currentNonce, type ProofDeps, provedKey } from './proof.ts';
import { type ResourceClaims, resourceClaims } from './resource.ts';
import { findHeldToken, type HeldTokenRow } from './tokens.repo.ts';
import { audiencesOf, limitsOf } from './tokens.rules.ts';

type HolderDeps = Pick<LookUpDeps, 'db' | 'clock' | 'issuer' | 'verifyOwn'> & ProofDeps;

/** Why a token proves nothing, for the log only, and the nonce that the next proof needs. */
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
  const verifyExchanged = createKindVerifier('resource-exchange', {
    keys: () => deps.keyRing.verificationKeys(),
    issuer: deps.issuer,
    verifySignature,
  });
  return async (shown: ShownToken): Promise<Read> => {
    const now = deps.clock();
    const verified = deps.verifyOwn(shown.token, now);
    if (verified.ok) return holderOf(deps, shown, verified, now);
    const exchanged = shown.takesExchanged
      ? verifyExchanged(shown.token, { now, audience: deps.issuer })
      : verified;
    if (!exchanged.ok) return { refusal: verified.reason };
    return holderForResource(deps, shown, resourceClaims(exchanged.payload), now);
  };
}

async function holderOf(
  deps: HolderDeps,
  shown: ShownToken,
  verified: VerifiedGrant,
  now: Date,
): Promise<Read> {
  const { claims } = verified;
  const tenant = { developerId: claims.developerId };
  const found = await findHeldToken(deps.db, tenant, claims.tokenId, now);
  if (!found) return { refusal: 'unknown' };
  const { row, reason } = assess({ verified, isExpired: false }, found, found, now);
  if (!row || row.actingResourceId !== null) return { refusal: 'claims_differ' };
  if (reason) return { refusal: reason };
  // A token for another resource server only is not for this service: that server could replay it here.
  if (row.audience !== null && !namesResource(audiencesOf(row.audience), deps.issuer))
    return { refusal: 'audience' };
  const refused = await refusedProof(deps, shown, claims.keyThumbprint);
  if (refused) return refused;
  return heldBy(found, `agent:${row.agentId}`);
}

/** The holder behind a resource, which acts for the agent whose token it received. */
async function holderForResource(
  deps: HolderDeps,
  shown: ShownToken,
  claims: ResourceClaims,
  now: Date,
): Promise<Read> {
  const found = await findHeldToken(deps.db, claims, claims.tokenId, now);
  if (!found) return { refusal: 'unknown' };
  const isSame =
    found.actingResourceId !== null &&
    found.id === claims.grantId &&
    found.scopes.join(' ') === claims.scope &&
    found.keyThumbprint === (claims.keyThumbprint ?? null);
  if (!isSame) return { refusal: 'claims_differ' };
  const reason = verificationRefusal(found, now);
  if (reason) return { refusal: reason };
  const refused = await refusedProof(deps, shown, claims.keyThumbprint);
  return refused ?? heldBy(found, `resource:${found.actingResourceId}`);
}

function heldBy(row: HeldTokenRow, actor: string): Omit<GrantHolder, 'requestId'> {
  const { developerId, tokenId, id: grantId, agentId, agentDid, principalId, purpose, scopes } = row;
  const { parentGrantId, mode, plan } = row;
  const authorizationDetails = limitsOf(row.authorizationDetails, row.grantDetails);
  const caller = {
    tenant: { developerId },
    agentIds: [agentId],
    actor,
    role: 'runtime',
    mode,
    plan,
  } as const;
  const held = { tokenId, grantId, parentGrantId, agentId, agentDid, principalId, purpose, scopes };
  return { ...caller, ...held, authorizationDetails };
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
