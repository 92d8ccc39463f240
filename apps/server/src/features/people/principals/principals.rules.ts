import { parseDuration } from '@behest/protocol/durations';
import { badField } from '../../../platform/errors.ts';

const LONGEST_SESSION = 86_400; // seconds

/** The length of a session. A longer wish gets the longest session. @throws BAD_REQUEST */
export function sessionSeconds(expiresIn = '1h'): number {
  const seconds = parseDuration(expiresIn);
  if (seconds === undefined) throw badField('expiresIn', 'format');
  return Math.min(seconds, LONGEST_SESSION);
}

const PURPOSE = 'principal_dashboard';

interface SessionClaims {
  readonly developerId: string;
  readonly principalId: string;
  readonly sessionId: string;
}

/** The audience of session tokens: these routes, and no other route that takes a token. */
export const sessionAudience = (issuer: string) => `${issuer}/v1/principal`;

export function sessionClaims(session: SessionClaims & Signing): Readonly<Record<string, unknown>> {
  const { issuer, developerId, principalId, sessionId, issuedAt, expiresAt, isSandbox } = session;
  return {
    iss: issuer,
    aud: sessionAudience(issuer),
    sub: principalId,
    dev: developerId,
    purpose: PURPOSE,
    jti: sessionId,
    iat: epochSeconds(issuedAt),
    exp: epochSeconds(expiresAt),
    ...(isSandbox && { sandbox: true }),
  };
}

interface Signing {
  readonly issuer: string;
  readonly issuedAt: Date;
  readonly expiresAt: Date;
  readonly isSandbox: boolean;
}

/** Reads the claims of a token that is genuine and for this audience. */
export function readSessionClaims(payload: Readonly<Record<string, unknown>>): SessionClaims | undefined {
  const { sub, dev, jti, purpose } = payload;
  if (purpose !== PURPOSE || 'scp' in payload) return undefined;
  if (!isText(sub) || !isText(dev) || !isText(jti)) return undefined;
  return { developerId: dev, principalId: sub, sessionId: jti };
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

const epochSeconds = (time: Date) => Math.floor(time.getTime() / 1000);
