import type { AppError } from '../../errors.ts';

/** RFC 8935, section 2.4: the body that a transmitter of security events reads. */
export function setErrorBody({ message, details }: AppError) {
  return { err: String(details?.err ?? 'invalid_request'), description: message };
}

/** A transmitter sends again after 503, and gives up after 500. All that is wrong with a token is 400. */
export function setStatus({ status }: AppError): number {
  if (status === 500) return 503;
  return status === 404 || status === 415 ? 400 : status;
}
