import { createHash } from 'node:crypto';
import { parseDuration } from '@behest/protocol/durations';
import { AppError, badField } from '../../../platform/errors.ts';
import type { ConnectSession } from './connections.schema.ts';

type Status = ConnectSession['status'];

interface Timed {
  readonly status: Status;
  readonly expiresAt: Date;
}

const OPEN: ReadonlySet<Status> = new Set(['pending', 'started', 'returned']);

/** An open session that ran out is expired, whether or not a job has said so. */
export const statusAt = ({ status, expiresAt }: Timed, now: Date): Status =>
  OPEN.has(status) && expiresAt <= now ? 'expired' : status;

export const isOpen = (row: Timed, now: Date): boolean => OPEN.has(statusAt(row, now));

const HOUR = 3600;
const DAY = 86_400;

/** @throws BAD_REQUEST outside 60 seconds to a day */
export function openSeconds(duration: string | undefined): number {
  if (duration === undefined) return HOUR;
  const seconds = parseDuration(duration);
  if (seconds === undefined) throw badField('expiresIn', 'format');
  if (seconds < 60) throw badField('expiresIn', 'too_small');
  if (seconds > DAY) throw badField('expiresIn', 'too_large');
  return seconds;
}

interface Offered {
  readonly required: readonly string[];
  readonly optional: readonly string[];
}

/**
 * The scopes to ask for. The scopes that a connection has are always among them, because an upstream replaces the
 * earlier grant.
 * @throws INVALID_SCOPE for one that the provider does not offer
 */
export function scopesToAsk(
  { required, optional }: Offered,
  wanted: readonly string[] | undefined,
  granted: readonly string[],
): string[] {
  const unknown = (wanted ?? []).filter((scope) => !required.includes(scope) && !optional.includes(scope));
  if (unknown.length > 0) {
    throw new AppError('INVALID_SCOPE', 'The provider does not offer these scopes.', { scopes: unknown });
  }
  return [...new Set([...required, ...(wanted ?? []), ...granted])];
}

/** The scopes that a person left in. Only optional ones can be left out. @throws INVALID_SCOPE */
export function scopesLeft(
  asked: readonly string[],
  left: readonly string[] | undefined,
  required: readonly string[],
): string[] {
  if (left === undefined) return [...asked];
  const wider = left.filter((scope) => !asked.includes(scope));
  const gone = required.filter((scope) => !left.includes(scope));
  if (wider.length + gone.length > 0) {
    throw new AppError('INVALID_SCOPE', 'Only optional scopes of this session can be left out.', {
      scopes: [...wider, ...gone],
    });
  }
  return [...left];
}

/** RFC 7636, section 4.2. */
export const challengeOf = (verifier: string): string =>
  createHash('sha256').update(verifier).digest('base64url');

/**
 * The refusal that the `iss` of an authorization response deserves, if any: absent though the upstream says that it
 * always names itself, or another.
 * @see RFC 9207, section 2.4
 */
export function isIssuerWrong(
  { issuer, namesIssuer }: { readonly issuer: string | null; readonly namesIssuer: boolean },
  iss: string | null,
): boolean {
  if (iss === null) return namesIssuer;
  return issuer !== null && iss !== issuer;
}

/** The text of an account's id or name. @returns undefined for anything that is neither text nor number */
export function textOf(value: unknown): string | undefined {
  const text = typeof value === 'number' ? String(value) : value;
  return typeof text === 'string' && text.length >= 1 && text.length <= 256 ? text : undefined;
}

/** Adds members to the query of a URL. */
export function withQuery(url: string, members: Readonly<Record<string, string | null>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(members)) if (value !== null) query.append(name, value);
  return `${url}${url.includes('?') ? '&' : '?'}${query}`;
}
