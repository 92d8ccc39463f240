/** The outcome of an attempt: the status of the answer, or the reason why no answer came. */
export type AttemptOutcome =
  | { readonly status: number; readonly failure?: undefined }
  | { readonly failure: string; readonly status?: undefined };

export interface AfterAttempt {
  readonly status: 'pending' | 'delivered' | 'failed';
  /** Null when the status is final. */
  readonly nextAttemptAt: Date | null;
  readonly lastError: string | null;
  readonly lastStatusCode: number | null;
  /** Whether the endpoint belongs in the lane of prompt endpoints, which do not make others wait. */
  readonly isPrompt: boolean;
}

export interface DeliveryAttempt {
  /** The number of attempts, including this attempt. */
  readonly attempts: number;
  readonly maxAttempts: number;
  /** Whether this attempt took longer than a prompt attempt may. */
  readonly isLate: boolean;
}

const FIRST_WAIT = 30; // seconds; specification, States and transitions
export const PROMPT_SECONDS = 2; // specification, Webhook delivery: Shares

/** @see specification, Webhook delivery */
export function afterAttempt(
  { attempts, maxAttempts, isLate }: DeliveryAttempt,
  outcome: AttemptOutcome,
  at: Date,
): AfterAttempt {
  const lastStatusCode = outcome.status ?? null;
  const lastError = errorOf(outcome);
  const isPrompt = lastError === null && !isLate;
  const told = { lastError, lastStatusCode, isPrompt };
  if (lastError === null) return { ...told, status: 'delivered', nextAttemptAt: null };
  if (attempts >= maxAttempts) return { ...told, status: 'failed', nextAttemptAt: null };
  const wait = FIRST_WAIT * 2 ** (attempts - 1);
  return { ...told, status: 'pending', nextAttemptAt: new Date(at.getTime() + wait * 1000) };
}

const REDIRECTS = new Set([301, 302, 303, 307, 308]); // RFC 9110, section 15.4: those that name another URL

/** The class of an error. It reveals neither the receiver's answer nor the receiver's address. */
function errorOf({ status, failure }: AttemptOutcome): string | null {
  if (status === undefined) return failure;
  if (status >= 200 && status < 300) return null;
  return REDIRECTS.has(status) ? 'redirect_refused' : `http_${status}`;
}
