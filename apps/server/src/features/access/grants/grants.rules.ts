import type { Grant } from './grants.schema.ts';

interface Lifetime {
  readonly status: 'active' | 'revoked';
  readonly expiresAt: Date;
}

/** What is stored is what somebody did; that a grant ran out follows from the clock. */
export function grantStatus({ status, expiresAt }: Lifetime, now: Date): Grant['status'] {
  if (status === 'revoked') return 'revoked';
  return expiresAt <= now ? 'expired' : 'active';
}

/** A token is revoked with its grant, whether or not by itself. */
export function tokenStatus(
  token: { readonly revokedAt: Date | null; readonly expiresAt: Date },
  grantRevokedAt: Date | null,
  now: Date,
): { status: Grant['status']; revokedAt?: Date } {
  const revokedAt = token.revokedAt ?? grantRevokedAt;
  if (revokedAt) return { status: 'revoked', revokedAt };
  return { status: token.expiresAt <= now ? 'expired' : 'active' };
}
