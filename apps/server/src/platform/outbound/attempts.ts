import type { Egress } from '../egress/egress.ts';

/** How often something is sent, and how long the service waits in between. */
export interface BackOff {
  readonly maxAttempts: number;
  readonly firstSeconds: number;
  /** Each wait is so many times as long as the one before. */
  readonly factor: number;
  readonly longestSeconds?: number;
}

/** @param attempts the attempts made so far @returns undefined after the last attempt */
export function nextAttemptAt(
  { maxAttempts, firstSeconds, factor, longestSeconds = Number.POSITIVE_INFINITY }: BackOff,
  attempts: number,
  at: Date,
  retryAfter?: string,
): Date | undefined {
  if (attempts >= maxAttempts) return undefined;
  const seconds = Math.min(firstSeconds * factor ** (attempts - 1), longestSeconds);
  return retryAt(new Date(at.getTime() + seconds * 1000), retryAfter, at);
}

const LONGEST_MS = 24 * 3_600_000;

/**
 * When to try again: at the stated time, or later where the receiver asks for it by `Retry-After`, in seconds or as a date
 * (RFC 9110, section 10.2.3). A receiver may ask for a day at most.
 */
function retryAt(stated: Date, retryAfter: string | undefined, at: Date): Date {
  const text = retryAfter?.trim() ?? '';
  const asked = /^\d{1,9}$/.test(text) ? at.getTime() + Number(text) * 1000 : dateIn(text);
  if (Number.isNaN(asked)) return stated;
  return new Date(Math.max(stated.getTime(), Math.min(asked, at.getTime() + LONGEST_MS)));
}

/** Only as HTTP writes dates: `Date.parse` reads `-1` and `600.5` as years. */
const dateIn = (text: string) => (/^[A-Z][a-z]{2,8}, .* GMT$/.test(text) ? Date.parse(text) : Number.NaN);

/** What an answer means: a receiver that answers 410 asks for nothing more (RFC 9110, section 15.5.11). */
export function resultOf(status: number): 'delivered' | 'gone' | 'failed' {
  if (status === 410) return 'gone';
  return status >= 200 && status < 300 ? 'delivered' : 'failed';
}

/** The result of one attempt. A `rescheduled` message has a new time already. */
export interface SendResult {
  readonly result: 'delivered' | 'gone' | 'failed' | 'rescheduled';
  /** When the receiver asks to be called again: seconds, or a date of HTTP. */
  readonly retryAfter?: string | undefined;
}

export const USER_AGENT = 'Service-Webhooks/0.1';

/** Posts JSON to an address that a client has named. */
export async function postJson(
  egress: Pick<Egress, 'send'>,
  url: string,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<SendResult> {
  const sent = { 'content-type': 'application/json', 'user-agent': USER_AGENT, ...headers };
  const outcome = await egress.send({ url, method: 'POST', headers: sent, body });
  if (outcome.status === undefined) return { result: 'failed' };
  return { result: resultOf(outcome.status), retryAfter: outcome.retryAfter };
}
