import { type Authentication, methodsIn } from '@behest/protocol/authentication';
import { JsonError, parseJson } from '@behest/protocol/json';
import { AppError, oauthRefusal } from '../../../platform/errors.ts';

/** The claims of an assertion that decide here. Nobody has verified them yet. */
export interface Claims {
  readonly iss: string;
  readonly sub: unknown;
  readonly aud: unknown;
  readonly clientId: unknown;
  readonly jti: unknown;
  readonly iat: unknown;
  readonly exp: unknown;
  readonly nbf: unknown;
  readonly all: Readonly<Record<string, unknown>>;
}

const LONGEST = 16_384; // bytes
const SKEW = 60; // seconds

/** The words by which a client learns which check an assertion failed. Nothing of the assertion is among them. */
export type Word =
  | 'malformed'
  | 'typ'
  | 'issuer'
  | 'signature'
  | 'audience'
  | 'client'
  | 'expired'
  | 'lifetime'
  | 'subject'
  | 'tenant'
  | 'authentication'
  | 'replayed'
  | 'possession'
  | 'resource'
  | 'groups_unreadable'
  | 'unknown_user';

/**
 * A second subject of the provider, for a person who is linked to another one. The client learns no more than of anybody
 * unknown; the audit entry names the subject, for the administrator who moves the link.
 */
export class OtherSubject extends AppError {
  readonly subject: string;

  constructor(subject: string) {
    const { code, message, details } = bad('unknown_user');
    super(code, message, details);
    this.subject = subject;
  }
}

export const bad = (word: Word) => oauthRefusal('invalid_grant', word);

const MEMBERS: ReadonlySet<string> = new Set(['alg', 'kid', 'typ']);

/** Rows 1 and 3: a signed JWT of three parts whose header says nothing but what it is. @throws invalid_grant */
export function readAssertion(assertion: string): Claims {
  if (Buffer.byteLength(assertion) > LONGEST) throw oauthRefusal('invalid_request', 'malformed');
  const parts = assertion.split('.');
  const header = objectOf(parts[0]);
  const all = objectOf(parts[1]);
  if (parts.length !== 3 || !header || !all) throw bad('malformed');
  const hasMore = Object.keys(header).some((name) => !MEMBERS.has(name));
  if (hasMore || typeof header.kid !== 'string' || typeof header.alg !== 'string') throw bad('malformed');
  if (!/^(application\/)?oauth-id-jag\+jwt$/i.test(String(header.typ))) throw bad('typ');
  const { iss, sub, aud, client_id: clientId, jti, iat, exp, nbf } = all;
  if (typeof iss !== 'string') throw bad('issuer');
  return { iss, sub, aud, clientId, jti, iat, exp, nbf, all };
}

function objectOf(part: string | undefined): Readonly<Record<string, unknown>> | undefined {
  if (part === undefined || !/^[A-Za-z0-9_-]+$/.test(part)) return undefined;
  try {
    const value: unknown = parseJson(Buffer.from(part, 'base64url'));
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined;
  } catch (error) {
    if (error instanceof JsonError) return undefined;
    throw error;
  }
}

interface Meant {
  readonly issuer: string;
  readonly clientId: string;
  readonly now: Date;
  readonly longestSeconds: number;
}

/** An assertion for this service and this client, at this time. */
export interface Timely {
  readonly subject: string;
  readonly jti: string;
  readonly expiresAt: Date;
  readonly issuedAt: number;
}

/** Rows 6 to 8, the subject of row 9, and the form of row 10. @throws invalid_grant */
export function mustBeMeant(claims: Claims, { issuer, clientId, now, longestSeconds }: Meant): Timely {
  const { aud, iat, exp, nbf, sub, jti } = claims;
  const audiences: unknown[] = Array.isArray(aud) ? aud : [aud];
  if (audiences.length !== 1 || audiences[0] !== issuer) throw bad('audience');
  if (claims.clientId !== clientId) throw bad('client');
  const at = now.getTime() / 1000;
  if (!isTime(exp) || !isTime(iat) || at >= exp || iat > at + SKEW) throw bad('expired');
  if (nbf !== undefined && !(isTime(nbf) && nbf <= at + SKEW)) throw bad('expired');
  if (exp - iat > longestSeconds) throw bad('lifetime');
  if (!isText(sub)) throw bad('subject');
  if (!isText(jti)) throw bad('replayed');
  return { subject: sub, jti, expiresAt: new Date(exp * 1000), issuedAt: iat };
}

const isTime = (value: unknown): value is number => Number.isSafeInteger(value);
const isText = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && value.length <= 256;

interface Trusted {
  /** The customer of a shared issuer. */
  readonly tenant: string | null;
  readonly developerId: string;
  readonly maxAuthAgeSeconds: number | null;
  readonly requireAmr: readonly string[];
  readonly now: Date;
}

/** The rest of row 9. @throws invalid_grant */
export function mustBeTrusted({ all }: Claims, trusted: Trusted): void {
  const { tenant = null, aud_tenant: audTenant, auth_time: authTime, amr } = all;
  if (tenant !== trusted.tenant) throw bad('tenant');
  if (audTenant !== undefined && audTenant !== trusted.developerId) throw bad('tenant');
  const { maxAuthAgeSeconds, requireAmr, now } = trusted;
  const at = now.getTime() / 1000;
  const isTold = isTime(authTime) && authTime <= at + SKEW; // a time to come would stay young for ever
  if (maxAuthAgeSeconds !== null && !(isTold && at - authTime <= maxAuthAgeSeconds)) {
    throw bad('authentication');
  }
  const methods: unknown[] = Array.isArray(amr) ? amr : [];
  if (!requireAmr.every((method) => methods.includes(method))) throw bad('authentication');
}

/** The sign-in that the provider states; `amr` says nothing about a time. */
export function authenticationIn({ all: { auth_time: authTime, amr } }: Claims): {
  readonly authentication?: Authentication;
} {
  if (!isTime(authTime) || authTime < 0) return {};
  return { authentication: { at: new Date(authTime * 1000), methods: methodsIn(amr) } };
}

/** The resources that an assertion names. @throws invalid_grant */
export function resourcesIn({ all: { resource } }: Claims): string[] | undefined {
  if (resource === undefined) return undefined;
  const named: unknown[] = Array.isArray(resource) ? resource : [resource];
  const texts = named.filter((each) => typeof each === 'string');
  if (texts.length !== named.length || texts.length === 0 || texts.length > 5) throw bad('resource');
  return [...new Set(texts)];
}

const MAX_ACTOR_BYTES = 2048;

/** The claim `act`, which no profile defines, as the audit log keeps it. Nothing is decided by it. */
export function actorIn({ all: { act } }: Claims): unknown {
  return act !== undefined && JSON.stringify(act).length <= MAX_ACTOR_BYTES ? act : undefined;
}

/** The key to which an assertion binds the token. */
export function boundKeyIn({ all: { cnf } }: Claims): unknown {
  return cnf === undefined ? undefined : (Object(cnf).jkt ?? null);
}

export const textIn = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' && value.length <= 320 ? value : undefined;
