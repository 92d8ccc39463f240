import type { TokenRefusal } from '../token-refusal.ts';
import type { VerifiedGrant } from '../token-verifier.ts';
import type { GrantStatus, KeysUnavailable, MaybePromise, RevocationCheck, TokenSource } from './ports.ts';
import { type Denial, deny, type TokenCause } from './reasons.ts';

const causes: Readonly<Record<TokenRefusal | 'keys_unavailable', TokenCause>> = {
  malformed: 'malformed',
  header_not_allowed: 'malformed',
  alg_not_allowed: 'algorithm',
  typ_not_allowed: 'type',
  key_not_found: 'key',
  key_inconsistent: 'key',
  bad_signature: 'signature',
  issuer_mismatch: 'issuer',
  expired: 'expired',
  not_yet_valid: 'not_yet_valid',
  audience_mismatch: 'audience',
  claims_missing: 'claims',
  claims_inconsistent: 'claims',
  developer_mismatch: 'developer',
  sandbox_not_allowed: 'sandbox',
  dpop_required: 'claims',
  keys_unavailable: 'keys_unavailable',
};

/** Check 1. An exception of the source refuses the token. */
export function verifyToken(
  source: TokenSource,
  token: unknown,
  provedKey?: string,
): MaybePromise<VerifiedGrant | { readonly ok: false; readonly denial: Denial }> {
  if (typeof token !== 'string' || token === '') return refusal('missing');
  try {
    const verified = source.verify(token, provedKey);
    return verified instanceof Promise ? verified.then(verdictOf, unexpected) : verdictOf(verified);
  } catch {
    return unexpected();
  }
}

function verdictOf(
  verified: VerifiedGrant | { readonly ok: false; readonly reason: TokenRefusal } | KeysUnavailable,
) {
  return verified.ok ? verified : refusal(causes[verified.reason]);
}

function unexpected() {
  return refusal('internal');
}

function refusal(cause: TokenCause) {
  return { ok: false as const, denial: deny('token_invalid', null, { cause }) };
}

/** Check 2. */
export function checkRevocation(
  check: RevocationCheck | undefined,
  token: VerifiedGrant,
): MaybePromise<Denial | undefined> {
  if (!check) return undefined;
  try {
    const status = check.check(token);
    return status instanceof Promise ? status.then(denialOf, unavailable) : denialOf(status);
  } catch {
    return unavailable();
  }
}

function denialOf(status: GrantStatus): Denial | undefined {
  if (status === 'active') return undefined;
  const isKnown = status === 'revoked' || status === 'suspended' || status === 'parent_revoked';
  return deny('grant_revoked', isKnown ? status : 'status_unavailable');
}

function unavailable(): Denial {
  return deny('grant_revoked', 'status_unavailable');
}
