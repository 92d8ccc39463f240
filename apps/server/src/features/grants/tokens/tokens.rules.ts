import { createHash, timingSafeEqual } from 'node:crypto';
import { canonicalJson } from '@behest/protocol/canonical-json';
import { storedEntries, toolsEntries } from '@behest/protocol/caps-lineage';
import { type InvalidGrantReason, invalidGrantReasons } from '@behest/protocol/errors';
import { AppError } from '../../../platform/errors.ts';

/** Why a code or token cannot be used. */
export type GrantRefusal = Exclude<InvalidGrantReason, 'grant_unknown'>;

export const invalidGrant = (reason: InvalidGrantReason) =>
  new AppError('INVALID_GRANT', invalidGrantReasons[reason], { reason });

/** `ref_`, a ULID that finds the row, and 43 characters that nobody can guess. */
const REFRESH_TOKEN = /^(ref_[0-9A-HJKMNP-TV-Z]{26})[A-Za-z0-9_-]{43}$/;
export const refreshIdOf = (refreshToken: string): string | undefined =>
  REFRESH_TOKEN.exec(refreshToken)?.[1];

/** A token's times are whole seconds. Its stored end is too, because the two are compared. */
export const wholeSecond = (milliseconds: number) => new Date(Math.floor(milliseconds / 1000) * 1000);

/** @see RFC 7636 §4.6 */
function isVerifierOf(challenge: string, verifier: string): boolean {
  const computed = createHash('sha256').update(verifier).digest('base64url');
  return (
    computed.length === challenge.length && timingSafeEqual(Buffer.from(computed), Buffer.from(challenge))
  );
}

interface Redeemable {
  readonly agentId: string;
  readonly agentStatus: string;
  readonly redirectUri: string | null;
  readonly codeChallenge: string | null;
  /** The key that the code is bound to. */
  readonly keyThumbprint: string | null;
  readonly codeExpiresAt: Date | null;
  readonly wrongVerifiers: number;
  readonly status: 'pending' | 'approved' | 'denied' | 'cancelled' | 'consumed' | 'expired';
}

export interface Presented {
  readonly agentId: string;
  readonly redirectUri?: string | undefined;
  readonly codeVerifier?: string | undefined;
  /** The key whose proof came with the code. */
  readonly keyThumbprint?: string;
}

/**
 * Why this code is not exchanged. Agent and redirect URI are compared first, so that a stranger learns
 * nothing. The verifier comes next, so that only the party that began the flow can cause the revocation that
 * follows reuse.
 */
export function redemptionRefusal(
  request: Redeemable,
  presented: Presented,
  now: Date,
  maxWrongVerifiers: number,
): GrantRefusal | undefined {
  const { redirectUri = request.redirectUri } = presented;
  if (request.agentId !== presented.agentId || request.redirectUri !== redirectUri) return 'code_unknown';
  if (request.keyThumbprint !== null && request.keyThumbprint !== presented.keyThumbprint)
    return 'code_unknown';
  const pkce = pkceRefusal(request, presented);
  if (pkce) return pkce;
  if (request.wrongVerifiers >= maxWrongVerifiers) return 'code_unknown';
  if (request.status === 'consumed') return 'code_used';
  if (request.status === 'expired' && request.codeExpiresAt) return 'code_expired';
  if (request.status !== 'approved' || !request.codeExpiresAt) return 'not_approved';
  if (request.codeExpiresAt <= now) return 'code_expired';
  return request.agentStatus === 'active' ? undefined : 'agent_inactive';
}

function pkceRefusal({ codeChallenge }: Redeemable, { codeVerifier }: Presented): GrantRefusal | undefined {
  if (codeChallenge === null) return codeVerifier === undefined ? undefined : 'pkce_unexpected';
  if (codeVerifier === undefined) return 'pkce_required';
  return isVerifierOf(codeChallenge, codeVerifier) ? undefined : 'pkce_mismatch';
}

/**
 * The entries of a grant as its audit entry keeps them. Rules nest deeper than an entry may, so each tool's rules are a
 * text: canonical JSON, which gives the same text for the same rules.
 */
export function recordedDetails(details: unknown): { readonly authorizationDetails?: readonly object[] } {
  const entries = toolsEntries(storedEntries(details)).map(({ arguments: rules, ...entry }) => ({
    ...entry,
    ...(rules && { arguments: canonicalJson(rules) }),
  }));
  return entries.length > 0 ? { authorizationDetails: entries } : {};
}
