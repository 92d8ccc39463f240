import { MeterError } from '@behest/protocol/enforcement/meter';

/** The time for which an operation waits for its store: a tool call waits for it. In milliseconds. */
export const TIMEOUT_MS = 500;

/**
 * Waits for a store no longer than `timeoutMs`, once. Every failure becomes a `MeterError`.
 *
 * @throws MeterError
 */
export function bounded<Answer>(timeoutMs: number, ask: () => Promise<Answer>): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new MeterError('timeout')), timeoutMs);
    const fail = (cause: unknown) => {
      clearTimeout(timer);
      reject(cause instanceof MeterError ? cause : new MeterError('unreachable', { cause }));
    };
    const end = (answer: Answer) => {
      clearTimeout(timer);
      resolve(answer);
    };
    try {
      ask().then(end, fail);
    } catch (cause) {
      fail(cause); // a client that throws in place of a promise
    }
  });
}

/** The error for an answer that a store never gives unless another program writes to it. */
export function strange(): MeterError {
  return new MeterError('misconfigured', {
    cause: new Error('The store gave an answer that is not a meter’s.'),
  });
}

const MAX_COUNTERS = 128;

/** @throws RangeError for counters that the engine never makes */
export function mustBeCounters(counters: readonly { readonly key: string }[]): void {
  const isSet = new Set(counters.map(({ key }) => key)).size === counters.length;
  if (counters.length > 0 && counters.length <= MAX_COUNTERS && isSet) return;
  throw new RangeError(`A call has 1 to ${MAX_COUNTERS} counters with different keys.`);
}

/** @throws Error for a call that was not reserved, or was refunded */
export function mustBeHeld(state: string | null | undefined): void {
  if (state === 'held' || state === 'sent') return;
  throw new Error(`The call cannot be sent: ${state || 'the meter does not know it'}.`);
}
