import { sayer } from '../../messages/language.ts';

const say = sayer('webhooks');

const KNOWN = [
  'redirect_refused',
  'timeout',
  'connection_failed',
  'dns_failed',
  'tls_failed',
  'blocked_address',
  'endpoint_deleted',
] as const;

/** @returns why an attempt failed, and what mends it, in a sentence */
export function reasonOf(error: string): string {
  const known = KNOWN.find((each) => each === error);
  if (known) return say(`reason-${known}`);
  const status = error.startsWith('http_') ? error.slice('http_'.length) : error;
  return say(status === '410' ? 'reason-gone' : 'reason-status', { status });
}
