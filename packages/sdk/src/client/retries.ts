/** Whether a request may be sent again after an attempt whose outcome is not known. */
export type Repeats = 'always' | 'when-unsent';

const [FIRST_PAUSE, LONGEST_PAUSE] = [500, 10_000]; // milliseconds

/** Errors of a connection that was never made. After any other error the service may have got the request. */
const UNSENT = new Set([
  ...['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'EADDRNOTAVAIL'],
  ...['UND_ERR_CONNECT_TIMEOUT', 'ConnectionRefused', 'FailedToOpenSocket'],
  ...['CERT_HAS_EXPIRED', 'DEPTH_ZERO_SELF_SIGNED_CERT', 'SELF_SIGNED_CERT_IN_CHAIN'],
  ...['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'EPROTO'],
  ...['ERR_TLS_CERT_ALTNAME_INVALID', 'ERR_SSL_WRONG_VERSION_NUMBER'],
]);

/** Tells whether the service cannot have got the request. Runtimes that do not say why count as not knowing. */
export function isUnsent(error: unknown): boolean {
  const { code, cause, errors } = Object(error);
  if (UNSENT.has(code)) return true;
  if (Array.isArray(errors) && errors.length > 0) return errors.every(isUnsent);
  return cause !== undefined && cause !== error && isUnsent(cause);
}

/** The code of a network error, or its words, for a message. */
export function reasonOf(error: unknown): string {
  const { code, cause, errors, message, name } = Object(error);
  if (typeof code === 'string') return code;
  const inner = cause ?? errors?.[0]; // a name with several addresses fails once for each
  if (inner !== undefined && inner !== error) return reasonOf(inner);
  return String(message || (name ?? 'unknown'));
}

/** Tells whether a status is worth another attempt. */
export function isWorthRepeating(status: number, repeats: Repeats): boolean {
  if (status === 429) return true; // the service did nothing
  return repeats === 'always' && [502, 503, 504].includes(status);
}

/** Milliseconds before the next attempt, at random, so that many clients do not come at once. */
export function pauseBefore(attempt: number, random: () => number): number {
  return random() * Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** (attempt - 1));
}

/** Waits, and ends at once when the signal does. @throws the reason of the signal */
export function wait(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const abort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort);
      resolve();
    }, milliseconds);
    signal?.addEventListener('abort', abort, { once: true });
  });
}
