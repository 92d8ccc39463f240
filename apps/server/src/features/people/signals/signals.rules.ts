import { AppError } from '../../../platform/errors.ts';

/** The fields of a signal that the service reads. */
export interface Signal {
  readonly iss: string;
  readonly audiences: readonly string[];
  readonly iat: number;
  readonly jti: string;
  readonly event: string;
  readonly said: Readonly<Record<string, unknown>>;
  readonly subject: SignalSubject;
}

/** The person or session that a signal is about (RFC 9493), as far as the service looks for one. */
export interface SignalSubject {
  readonly issuerSubject?: { readonly iss: string; readonly sub: string };
  readonly email?: string;
  readonly idpSession?: string;
  /** Present where the signal names a tenant. */
  readonly tenant?: string;
}

export type SignalEffect = 'none' | 'sessions' | 'deactivated' | 'purged' | 'reactivated';

/** The steps that a kind of event asks for. */
export type Demand = 'revoke' | 'sessions' | 'disable' | 'purge' | 'enable' | 'verify' | 'none';

const SECEVENT = 'https://schemas.openid.net/secevent';

const DEMANDS: Readonly<Record<string, Demand>> = {
  [`${SECEVENT}/caep/event-type/session-revoked`]: 'revoke',
  [`${SECEVENT}/risc/event-type/sessions-revoked`]: 'revoke',
  [`${SECEVENT}/risc/event-type/account-disabled`]: 'disable',
  [`${SECEVENT}/risc/event-type/account-purged`]: 'purge',
  [`${SECEVENT}/risc/event-type/account-enabled`]: 'enable',
  [`${SECEVENT}/risc/event-type/credential-compromise`]: 'sessions',
  [`${SECEVENT}/risc/event-type/account-credential-change-required`]: 'sessions',
  [`${SECEVENT}/ssf/event-type/verification`]: 'verify',
};

const CREDENTIAL_CHANGE = `${SECEVENT}/caep/event-type/credential-change`;

/** The events that the service asks a transmitter for. */
export const WANTED_EVENTS = [
  ...Object.keys(DEMANDS).filter((event) => DEMANDS[event] !== 'verify'),
  CREDENTIAL_CHANGE,
];

export function demandOf({ event, said }: Pick<Signal, 'event' | 'said'>): Demand {
  if (event !== CREDENTIAL_CHANGE) return Object.hasOwn(DEMANDS, event) ? (DEMANDS[event] ?? 'none') : 'none';
  return ['revoke', 'delete', 'update'].includes(String(said.change_type)) ? 'sessions' : 'none';
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isText = (value: unknown, longest: number): value is string =>
  typeof value === 'string' && value !== '' && value.length <= longest;

const LONGEST_ID = 256;
const LONGEST_EVENT = 1024;

/**
 * Reads the claims of a security event token.
 * @returns undefined for one that the profile does not allow
 * @see OpenID Shared Signals Framework 1.0, section 4
 */
export function readSignal(claims: unknown): Signal | undefined {
  if (!isRecord(claims) || 'sub' in claims || 'exp' in claims) return undefined;
  const { iss, aud, iat, jti, events, sub_id: subject } = claims;
  const audiences = Array.isArray(aud) ? aud : [aud];
  if (!isText(iss, 2048) || !isText(jti, LONGEST_ID) || !isRecord(events)) return undefined;
  if (typeof iat !== 'number' || !Number.isInteger(iat)) return undefined;
  if (!audiences.every((each) => typeof each === 'string')) return undefined;
  const [named, ...more] = Object.entries(events);
  if (!named || more.length > 0) return undefined;
  const [event, said] = named;
  if (!isText(event, LONGEST_EVENT) || !isRecord(said)) return undefined;
  return { iss, audiences, iat, jti, event, said, subject: readSubject(subject) };
}

function readSubject(subject: unknown): SignalSubject {
  if (!isRecord(subject)) return {};
  if (subject.format !== 'complex') return { ...personIn(subject), ...sessionIn(subject) };
  const { user, session, tenant } = subject;
  return {
    ...personIn(user),
    ...sessionIn(session),
    ...(tenant !== undefined && { tenant: isRecord(tenant) ? String(tenant.id ?? tenant.sub ?? '') : '' }),
  };
}

function personIn(user: unknown): Pick<SignalSubject, 'issuerSubject' | 'email'> {
  if (!isRecord(user)) return {};
  const { format, iss, sub, email } = user;
  if (format === 'iss_sub' && isText(iss, 2048) && isText(sub, 1024)) return { issuerSubject: { iss, sub } };
  return format === 'email' && isText(email, 320) ? { email } : {};
}

function sessionIn(session: unknown): Pick<SignalSubject, 'idpSession'> {
  if (!isRecord(session) || session.format !== 'opaque' || !isText(session.id, LONGEST_ID)) return {};
  return { idpSession: session.id };
}

/** Where a transmitter describes itself: the well-known part comes before the path of the issuer. */
export function metadataUrl(transmitter: string): string {
  const url = new URL(transmitter);
  const path = url.pathname === '/' ? '' : url.pathname;
  return `${url.origin}/.well-known/ssf-configuration${path}`;
}

/** Whether two issuers are the same, a slash at the end aside. */
export const isSameIssuer = (one: string, other: string): boolean =>
  one.replace(/\/$/, '') === other.replace(/\/$/, '');

const POLL_SECONDS = 30;
const LONGEST_PAUSE_SECONDS = 3600;

/** The time until the next poll: 30 s, doubled by each failure in a row, at most an hour. */
export const pauseAfter = (failures: number): number =>
  Math.min(POLL_SECONDS * 2 ** Math.min(failures, 10), LONGEST_PAUSE_SECONDS) * 1000;

/** The word by which the record of a stream shows a failure. */
export function wordOf(error: unknown): string {
  if (!(error instanceof AppError)) return 'internal';
  const { step, reason } = error.details ?? {};
  return step === undefined ? 'signal.not_taken' : `${step}.${reason}`;
}
