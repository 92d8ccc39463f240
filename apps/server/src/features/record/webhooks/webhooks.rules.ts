import { createHmac, randomBytes } from 'node:crypto';
import { nextAttemptAt, resultOf, USER_AGENT } from '../../../platform/outbound/attempts.ts';

/** The outcome of an attempt: the status of the answer, or the reason why no answer came. */
export type AttemptOutcome =
  | { readonly status: number; readonly retryAfter?: string | undefined; readonly failure?: undefined }
  | { readonly failure: string; readonly status?: undefined };

export interface AfterAttempt {
  readonly status: 'pending' | 'delivered' | 'failed';
  /** Null when the status is final. */
  readonly nextAttemptAt: Date | null;
  readonly lastError: string | null;
  readonly lastStatusCode: number | null;
  /** Whether the endpoint belongs in the lane of prompt endpoints, which do not make others wait. */
  readonly isPrompt: boolean;
  /** The endpoint says that it is gone for good (RFC 9110, section 15.5.11). */
  readonly isGone: boolean;
}

export interface DeliveryAttempt {
  /** The number of attempts, including this attempt. */
  readonly attempts: number;
  readonly maxAttempts: number;
  /** Whether this attempt took longer than a prompt attempt may. */
  readonly isLate: boolean;
}

const BACK_OFF = { firstSeconds: 30, factor: 2 };
export const PROMPT_SECONDS = 2; // a receiver that answers within it stays in the prompt lane

export function afterAttempt(
  { attempts, maxAttempts, isLate }: DeliveryAttempt,
  outcome: AttemptOutcome,
  at: Date,
  longestSeconds = Number.POSITIVE_INFINITY,
): AfterAttempt {
  const lastStatusCode = outcome.status ?? null;
  const lastError = errorOf(outcome);
  const isGone = outcome.status !== undefined && resultOf(outcome.status) === 'gone';
  const isPrompt = lastError === null && !isLate;
  const after = { lastError, lastStatusCode, isPrompt, isGone };
  if (lastError === null) return { ...after, status: 'delivered', nextAttemptAt: null };
  const backOff = { ...BACK_OFF, maxAttempts, longestSeconds };
  const retryAfter = outcome.status === undefined ? undefined : outcome.retryAfter;
  const next = isGone ? undefined : nextAttemptAt(backOff, attempts, at, retryAfter);
  return next
    ? { ...after, status: 'pending', nextAttemptAt: next }
    : { ...after, status: 'failed', nextAttemptAt: null };
}

const LONGEST_WAIT = 3600; // seconds, between two attempts at a signal
/** Errors of RFC 8935 §2.4 and RFC 8936 §2.6 that no further attempt can mend. */
const FINAL_ERRORS = ['invalid_request', 'invalid_issuer', 'invalid_audience'];

/** The answer to a signal: its status, and its body if it was read. */
export type SetOutcome = AttemptOutcome & { readonly body?: Buffer; readonly answered?: number };

/** As `afterAttempt`, for a signal. @see RFC 8935 §2.2, §2.3 */
export function afterSet(attempt: DeliveryAttempt, answer: SetOutcome, at: Date): AfterAttempt {
  const err = answer.status === 400 ? finalErrorIn(answer.body) : undefined;
  const { answered } = answer; // an answer whose body is not whole is an answer
  const outcome = answered === undefined ? answer : { status: answered };
  const after = afterAttempt(attempt, outcome, at, LONGEST_WAIT);
  if (err === undefined) return after;
  return { ...after, status: 'failed', nextAttemptAt: null, lastError: `set_${err}` };
}

function finalErrorIn(body: Buffer = Buffer.alloc(0)): string | undefined {
  try {
    const { err } = Object(JSON.parse(body.toString()));
    return FINAL_ERRORS.find((known) => known === err);
  } catch {
    return undefined;
  }
}

/** The headers of a pushed signal. @param authorization empty where the receiver asked for none */
export const setHeaders = (authorization: string): Record<string, string> => ({
  'content-type': 'application/secevent+jwt',
  accept: 'application/json',
  'user-agent': USER_AGENT,
  ...(authorization !== '' && { authorization }),
});

const REDIRECTS = new Set([301, 302, 303, 307, 308]); // RFC 9110, section 15.4: those that name another URL

/** The class of an error. It reveals neither the receiver's answer nor the receiver's address. */
function errorOf({ status, failure }: AttemptOutcome): string | null {
  if (status === undefined) return failure;
  if (resultOf(status) === 'delivered') return null;
  return REDIRECTS.has(status) ? 'redirect_refused' : `http_${status}`;
}

const PREFIX = 'whsec_';

/** A secret in the form of Standard Webhooks: a prefix and the HMAC key in base64. */
export const newWebhookSecret = (): string => PREFIX + randomBytes(32).toString('base64');

export interface Signed {
  readonly eventId: string;
  readonly eventType: string;
  readonly deliveryId: string;
  /** Exactly the text that is sent. */
  readonly body: string;
  /** The time of this attempt. */
  readonly at: Date;
  readonly secret: string;
  /** The secret before the last rotation, during its grace period. */
  readonly previousSecret: string | undefined;
}

/** The headers of a delivery that anybody may see. `at` is absent where no attempt was made. */
export function openHeaders({
  eventId,
  eventType,
  deliveryId,
  at,
}: Pick<Signed, 'eventId' | 'eventType' | 'deliveryId'> & { readonly at: Date | undefined }) {
  const timestamp = at && secondsOf(at);
  return {
    'content-type': 'application/json',
    'user-agent': USER_AGENT,
    ...(timestamp !== undefined && { 'x-service-timestamp': timestamp, 'webhook-timestamp': timestamp }),
    'webhook-id': eventId,
    'x-service-delivery': deliveryId,
    'x-service-event': eventType,
  };
}

const secondsOf = (at: Date) => String(Math.floor(at.getTime() / 1000));

/** The headers of a delivery. @see https://www.standardwebhooks.com */
export function deliveryHeaders(signed: Signed): Record<string, string> {
  const { eventId, body, secret, previousSecret } = signed;
  const timestamp = secondsOf(signed.at);
  const keys = previousSecret === undefined ? [secret] : [secret, previousSecret];
  const standard = keys.map((key) => `v1,${standardHmac(key, `${eventId}.${timestamp}.${body}`)}`);
  return {
    ...openHeaders(signed),
    'x-service-signature': `sha256=${textHmac(secret, body)}`,
    'x-service-signature-v2': `sha256=${textHmac(secret, `${timestamp}.${body}`)}`,
    'webhook-signature': standard.join(' '),
  };
}

const textHmac = (secret: string, message: string) =>
  createHmac('sha256', secret).update(message).digest('hex');

const standardHmac = (secret: string, message: string) =>
  createHmac('sha256', Buffer.from(secret.slice(PREFIX.length), 'base64'))
    .update(message)
    .digest('base64');

/** The attempts that a process makes at a time in one lane. */
export const PLACES = 50;
/** The most that a developer holds of a lane while something of another developer is due. */
export const QUARTER = Math.floor(PLACES / 4);
/** The last places of a lane go to developers that hold none, so that a newcomer finds one at once. */
export const KEPT = PLACES / 5;

/** The state of a lane in one process. */
export interface Places {
  readonly free: number;
  /** The attempts of each developer that count against its share. */
  readonly held: ReadonlyMap<string, number>;
}

/** The developers that may not take a place now while something of another developer is due. */
export const passedOver = ({ free, held }: Places): string[] =>
  [...held].filter(([, places]) => !mayTake(places, free, false)).map(([developerId]) => developerId);

/**
 * Shares free places out, one at a time: each goes to the developer that holds the fewest, the first in the
 * order of turns among equals. `isAlone` says that nothing of any other developer is due.
 */
export function shareOut(
  due: readonly string[],
  { free, held }: Places,
  { isAlone }: { readonly isAlone: boolean },
): ReadonlyMap<string, number> {
  const shares = new Map<string, number>();
  const holds = (developerId: string) => (held.get(developerId) ?? 0) + (shares.get(developerId) ?? 0);
  for (let left = free; left > 0; left -= 1) {
    const able = due.filter((developerId) => mayTake(holds(developerId), left, isAlone));
    const fewest = Math.min(...able.map(holds));
    const next = able.find((developerId) => holds(developerId) === fewest);
    if (next === undefined) break;
    shares.set(next, (shares.get(next) ?? 0) + 1);
  }
  return shares;
}

function mayTake(held: number, free: number, isAlone: boolean): boolean {
  if (held === 0) return free > 0;
  return free > KEPT && (isAlone || held < QUARTER);
}
