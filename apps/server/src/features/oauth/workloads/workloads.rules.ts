import { JsonError, parseJson } from '@behest/protocol/json';

const SPIFFE = /^spiffe:\/\/[a-z0-9._-]{1,255}$/;
const SPIFFE_ID = /^(spiffe:\/\/[a-z0-9._-]{1,255})\/[A-Za-z0-9._/-]+$/;

export const isTrustDomain = (issuer: string): boolean => SPIFFE.test(issuer);

/**
 * Whether a subject is meant exactly, or up to a whole part of it: `repo:acme/*` must not cover `repo:acme-evil/app`, and
 * no pattern covers everybody.
 */
export const isSubjectPattern = (text: string): boolean => {
  const star = text.indexOf('*');
  return star === -1 || (star === text.length - 1 && /[^/:][/:]$/.test(text.slice(0, -1)));
};

export const coversSubject = (pattern: string, subject: string): boolean =>
  pattern.endsWith('*')
    ? subject.startsWith(pattern.slice(0, -1)) && subject.length >= pattern.length
    : subject === pattern;

/** The unverified claims of a JWT; undefined for any other text. They say only where to look. */
export function claimsOf(jwt: string): Readonly<Record<string, unknown>> | undefined {
  const parts = jwt.split('.');
  if (parts.length !== 3 || jwt.length > LONGEST) return undefined;
  try {
    const value: unknown = parseJson(Buffer.from(parts[1] ?? '', 'base64url'));
    return typeof value === 'object' && value !== null ? { ...value } : undefined;
  } catch (error) {
    if (error instanceof JsonError) return undefined;
    throw error;
  }
}

const LONGEST = 16_384;

/** The issuer of a JWT. A JWT-SVID need not name one: its subject begins with the trust domain. */
export function issuerOf({ iss, sub }: Readonly<Record<string, unknown>>): string | undefined {
  const [, domain] = SPIFFE_ID.exec(String(sub)) ?? [];
  return domain ?? (typeof iss === 'string' ? iss : undefined);
}

interface Trusted {
  readonly audience: string;
  readonly subject: string;
  readonly claims: unknown;
  readonly maxSeconds: number;
}

const SKEW = 60; // seconds

/** Whether a verified JWT is one of those that a developer trusts, at this time. */
export function isTrusted(
  claims: Readonly<Record<string, unknown>>,
  { audience, subject, claims: wanted, maxSeconds }: Trusted,
  now: Date,
): boolean {
  const { aud, sub, exp, iat, nbf } = claims;
  const audiences: unknown[] = Array.isArray(aud) ? aud : [aud];
  if (audiences.length !== 1 || audiences[0] !== audience) return false;
  if (typeof sub !== 'string' || !coversSubject(subject, sub)) return false;
  const at = now.getTime() / 1000;
  if (typeof exp !== 'number' || at >= exp) return false;
  const begins = iat ?? at;
  if (typeof begins !== 'number' || begins > at + SKEW || exp - begins > maxSeconds) return false;
  if (nbf !== undefined && !(typeof nbf === 'number' && nbf <= at + SKEW)) return false;
  return Object.entries(Object(wanted)).every(([name, value]) => claims[name] === value);
}
