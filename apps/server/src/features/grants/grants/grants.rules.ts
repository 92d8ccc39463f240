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
