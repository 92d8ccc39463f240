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

interface TokenKind {
  /** The values that the header's `typ` may have. With undefined among them, `typ` may be absent. */
  readonly types: readonly (string | undefined)[];
  /** True when the token has to have `iss`. */
  readonly hasIssuer: boolean;
  /** True when the token has to have `exp`. */
  readonly hasExpiry: boolean;
  /** The longest of the kind, in bytes. The others are sent as a header, of which servers commonly take 16,384. */
  readonly mostBytes?: number;
}

const demanding = { hasIssuer: true, hasExpiry: true };

/**
 * The kinds of token that the service signs or accepts. Each kind has its own `typ`, so that no token passes for
 * another kind (RFC 8725, section 3.11). Only a grant token may have no `typ`, because tokens from before 0.6 have
 * none.
 */
export const tokenKinds = {
  grant: { types: [undefined, 'jwt', 'at+jwt', 'application/at+jwt'], ...demanding },
  'verifiable-credential': { types: ['vc+jwt'], ...demanding, mostBytes: 65_536 },
  'sd-jwt': { types: ['dc+sd-jwt', 'vc+sd-jwt'], ...demanding, mostBytes: 65_536 },
  'resource-exchange': { types: ['resource-exchange+jwt'], ...demanding },
  'agent-passport': { types: ['agent-passport+jwt'], ...demanding },
  'principal-session': { types: ['principal-session+jwt'], ...demanding },
  'wallet-authorization': { types: ['wallet-authorization+jwt'], ...demanding },
  decision: { types: ['decision+jwt'], ...demanding },
  'status-list': { types: ['statuslist+jwt'], hasIssuer: false, hasExpiry: true },
  'consent-hint': { types: ['consent-hint+jwt'], ...demanding },
  'connect-hint': { types: ['connect-hint+jwt'], ...demanding },
  receipt: { types: ['receipt+jwt'], hasIssuer: true, hasExpiry: false },
  'audit-checkpoint': { types: ['audit-checkpoint+jwt'], hasIssuer: false, hasExpiry: false },
  'offboarding-statement': {
    types: ['offboarding-statement+jwt'],
    hasIssuer: true,
    hasExpiry: false,
    mostBytes: 262_144, // it names up to 500 credentials
  },
  // Its issuer is a verifier, which signs with a key of its own.
  'verifier-position': { types: ['verifier-position+jwt'], hasIssuer: true, hasExpiry: false },
  'revocation-statement': {
    types: ['revocation-statement+jwt'],
    ...{ hasIssuer: true, hasExpiry: false, mostBytes: 131_072 }, // 50 verifiers, each with its own signature
  },
} satisfies Record<string, TokenKind>;

/** The name of a kind of token. */
export type TokenKindName = keyof typeof tokenKinds;

/** The longest token of a kind, in bytes. */
export function mostBytesOf(kind: TokenKindName): number {
  const { mostBytes = 16_384 }: TokenKind = tokenKinds[kind];
  return mostBytes;
}

/**
 * Tells whether a header's `typ` is that of a kind. Case does not matter for grant tokens (RFC 9068, section 4); it
 * matters for all others.
 */
export function isTypeOf(kind: TokenKindName, type: unknown): boolean {
  const { types }: TokenKind = tokenKinds[kind];
  if (type === undefined) return types.includes(undefined);
  return typeof type === 'string' && types.includes(kind === 'grant' ? type.toLowerCase() : type);
}
