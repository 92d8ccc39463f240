import { retryAt } from '../../../platform/egress/retry-after.ts';

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

const FIRST_WAIT = 30; // seconds
export const PROMPT_SECONDS = 2; // a receiver that answers within it stays in the prompt lane

export function afterAttempt(
  { attempts, maxAttempts, isLate }: DeliveryAttempt,
  outcome: AttemptOutcome,
  at: Date,
  longestWait = Number.POSITIVE_INFINITY,
): AfterAttempt {
  const lastStatusCode = outcome.status ?? null;
  const lastError = errorOf(outcome);
  const isPrompt = lastError === null && !isLate;
  const isGone = outcome.status === 410;
  const told = { lastError, lastStatusCode, isPrompt, isGone };
  if (lastError === null) return { ...told, status: 'delivered', nextAttemptAt: null };
  if (attempts >= maxAttempts || isGone) return { ...told, status: 'failed', nextAttemptAt: null };
  const wait = Math.min(FIRST_WAIT * 2 ** (attempts - 1), longestWait);
  const stated = new Date(at.getTime() + wait * 1000);
  const retryAfter = outcome.status === undefined ? undefined : outcome.retryAfter;
  return { ...told, status: 'pending', nextAttemptAt: retryAt(stated, retryAfter, at) };
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
  'user-agent': 'Service-Webhooks/0.1',
  ...(authorization !== '' && { authorization }),
});

const REDIRECTS = new Set([301, 302, 303, 307, 308]); // RFC 9110, section 15.4: those that name another URL

/** The class of an error. It reveals neither the receiver's answer nor the receiver's address. */
function errorOf({ status, failure }: AttemptOutcome): string | null {
  if (status === undefined) return failure;
  if (status >= 200 && status < 300) return null;
  return REDIRECTS.has(status) ? 'redirect_refused' : `http_${status}`;
}
