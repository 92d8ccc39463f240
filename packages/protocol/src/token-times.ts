import { type TokenKindName, tokenKinds } from './token-kinds.ts';
import type { TokenRefusal } from './token-refusal.ts';

export interface TimeRules {
  /** How long after `exp` a token is still taken: 0, the default, to 60 seconds. */
  readonly expirySkewSeconds?: number;
  /** How far `iat` and `nbf` may be ahead of this clock: 0 to 60 seconds, the default. */
  readonly startSkewSeconds?: number;
  /** The longest from `iat` to `exp` of a grant token; without it, any. */
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
 * @returns why the token is refused, or undefined. A lifetime longer than any that is issued is `malformed`.
 * @see RFC 7519, sections 4.1.4 to 4.1.6
 */
export function checkTimes(
  { exp, nbf, iat }: Readonly<Record<string, unknown>>,
  { rules, now, kind }: Circumstances,
): TokenRefusal | undefined {
  if (exp === undefined && tokenKinds[kind].hasExpiry) return 'malformed';
  if (![exp, nbf, iat].every((time) => time === undefined || isTime(time))) return 'malformed';
  const seconds = now.getTime() / 1_000;
  // Written so that an invalid date, of which nothing is true, has passed.
  if (isTime(exp) && !(seconds < exp + (rules.expirySkewSeconds ?? 0))) return 'expired';
  const latestStart = seconds + (rules.startSkewSeconds ?? 60);
  if ([nbf, iat].some((time) => isTime(time) && !(time <= latestStart))) return 'not_yet_valid';
  if (kind !== 'grant' || rules.maxLifetimeSeconds === undefined || !isTime(exp)) return undefined;
  const start = isTime(iat) ? iat : seconds; // of a token that does not say, what is left of it has to do
  return exp - start > rules.maxLifetimeSeconds ? 'malformed' : undefined;
}

export function isTime(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= LAST_SECOND;
}
