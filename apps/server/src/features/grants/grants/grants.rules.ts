import type { Grant } from './grants.schema.ts';

interface Lifetime {
  readonly status: 'active' | 'revoked';
  readonly expiresAt: Date;
}

/** The row says whether the grant was revoked. Expiry follows from the clock. */
export function grantStatus({ status, expiresAt }: Lifetime, now: Date): Grant['status'] {
  if (status === 'revoked') return 'revoked';
  return expiresAt <= now ? 'expired' : 'active';
}

/** A token counts as revoked when the token itself or its grant is revoked. */
export function tokenStatus(
  token: { readonly revokedAt: Date | null; readonly expiresAt: Date },
  grantRevokedAt: Date | null,
  now: Date,
): { status: Grant['status']; revokedAt?: Date } {
  const revokedAt = token.revokedAt ?? grantRevokedAt;
  if (revokedAt) return { status: 'revoked', revokedAt };
  return { status: token.expiresAt <= now ? 'expired' : 'active' };
}
