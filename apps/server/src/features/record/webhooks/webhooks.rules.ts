/** What became of an attempt: the status of an answer, or why there was none. */
export type AttemptOutcome =
  | { readonly status: number; readonly failure?: undefined }
  | { readonly failure: string; readonly status?: undefined };

export interface AfterAttempt {
  readonly status: 'pending' | 'delivered' | 'failed';
  /** Null when the status is final. */
  readonly nextAttemptAt: Date | null;
  readonly lastError: string | null;
  readonly lastStatusCode: number | null;
  /** Of the endpoint: it may be sent to in the lane of those that do not make others wait. */
  readonly isPrompt: boolean;
}

export interface DeliveryAttempt {
  /** How many there were, this one included. */
  readonly attempts: number;
  readonly maxAttempts: number;
  /** How long it took. */
  readonly seconds: number;
}

const FIRST_WAIT = 30; // seconds; specification, States and transitions
const PROMPT = 2; // seconds

/** @see specification, Webhook delivery */
export function afterAttempt(
  { attempts, maxAttempts, seconds }: DeliveryAttempt,
  outcome: AttemptOutcome,
  at: Date,
): AfterAttempt {
  const lastStatusCode = outcome.status ?? null;
  const lastError = errorOf(outcome);
  const isPrompt = lastError === null && seconds < PROMPT;
  const told = { lastError, lastStatusCode, isPrompt };
  if (lastError === null) return { ...told, status: 'delivered', nextAttemptAt: null };
  if (attempts >= maxAttempts) return { ...told, status: 'failed', nextAttemptAt: null };
  const wait = FIRST_WAIT * 2 ** (attempts - 1);
  return { ...told, status: 'pending', nextAttemptAt: new Date(at.getTime() + wait * 1000) };
}

const REDIRECTS = new Set([301, 302, 303, 307, 308]); // RFC 9110, section 15.4: those with another place to ask

/** A class and nothing else: neither what the receiver said nor where it was looked for. */
function errorOf({ status, failure }: AttemptOutcome): string | null {
  if (status === undefined) return failure;
  if (status >= 200 && status < 300) return null;
  return REDIRECTS.has(status) ? 'redirect_refused' : `http_${status}`;
}
