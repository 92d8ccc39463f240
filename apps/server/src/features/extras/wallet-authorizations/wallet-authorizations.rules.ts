import { compareDecimals } from '@behest/protocol/decimals';
import { covers } from '@behest/protocol/scopes';
import type { Status } from './wallet-authorizations.schema.ts';

/** Tokens have up to 18 decimals. */
const DECIMAL = /^(?:0|[1-9][0-9]{0,20})(?:\.[0-9]{1,18})?$/;
const SAFE_DIGITS = 15; // every reader of JSON reads a number of so many digits alike

/** Whether this is a positive decimal that all readers read alike. */
export function isAmount(amount: number | string): boolean {
  const text = String(amount);
  if (!DECIMAL.test(text) || compareDecimals(text, '0') === 0) return false;
  return typeof amount === 'string' || text.replace('.', '').length <= SAFE_DIGITS;
}

export const mayAuthorize = (scopes: readonly string[], asset: string): boolean =>
  ['wallet:authorize', `wallet:${asset}:authorize`].some((needed) =>
    scopes.some((held) => covers(held, needed)),
  );

interface Standing {
  readonly consumedAt: Date | null;
  readonly revokedAt: Date | null;
  readonly expiresAt: Date;
  readonly grantStatus: 'active' | 'revoked';
}

export function statusOf({ consumedAt, revokedAt, expiresAt, grantStatus }: Standing, now: Date): Status {
  if (consumedAt) return 'consumed';
  if (revokedAt || grantStatus === 'revoked') return 'revoked';
  return expiresAt <= now ? 'expired' : 'active';
}
