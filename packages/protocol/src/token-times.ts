import { type TokenKindName, tokenKinds } from './token-kinds.ts';
import type { TokenRefusal } from './token-refusal.ts';

/** The tolerances of a verifier for times. */
export interface TimeRules {
  /** Seconds after `exp` for which a token is still accepted: 0 to 60. Default: 0. */
  readonly expirySkewSeconds?: number;
  /** Seconds that `iat` and `nbf` may be ahead of the verifier's clock: 0 to 60. Default: 60. */
  readonly startSkewSeconds?: number;
  /** The most seconds from `iat` to `exp` of a grant token. Default: no limit. */
  readonly maxLifetimeSeconds?: number;
}

/** 9999-12-31T23:59:59Z, the last second that RFC 3339 can write. */
const LAST_SECOND = 253_402_300_799;

interface Circumstances {
  readonly rules: TimeRules;
  readonly now: Date;
  readonly kind: TokenKindName;
}

/**
 * Checks `exp`, `nbf` and `iat`, which are whole seconds since 1970.
 *
 * @returns the reason of the refusal, or undefined. A lifetime beyond `maxLifetimeSeconds` is `malformed`.
 * @see RFC 7519, sections 4.1.4 to 4.1.6
 */
export function checkTimes(
  { exp, nbf, iat }: Readonly<Record<string, unknown>>,
  { rules, now, kind }: Circumstances,
): TokenRefusal | undefined {
  if (exp === undefined && tokenKinds[kind].hasExpiry) return 'malformed';
  if (![exp, nbf, iat].every((time) => time === undefined || isTime(time))) return 'malformed';
  const seconds = now.getTime() / 1_000;
  // Every comparison with an invalid date is false, so the negation makes such a token expired.
  if (isTime(exp) && !(seconds < exp + (rules.expirySkewSeconds ?? 0))) return 'expired';
  const latestStart = seconds + (rules.startSkewSeconds ?? 60);
  if ([nbf, iat].some((time) => isTime(time) && !(time <= latestStart))) return 'not_yet_valid';
  if (kind !== 'grant' || rules.maxLifetimeSeconds === undefined || !isTime(exp)) return undefined;
  const start = isTime(iat) ? iat : seconds; // without `iat` the remaining lifetime counts
  return exp - start > rules.maxLifetimeSeconds ? 'malformed' : undefined;
}

/** Tells whether a claim is a time: whole seconds since 1970, up to the year 9999. */
export function isTime(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= LAST_SECOND;
}
