import { type KeySet, keySetOf } from '@behest/protocol/key-set';
import { BehestError, BehestNetworkError } from '../errors.ts';

/** Any function with the shape of the global `fetch`. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** A fetched set, and how long the issuer says that it stays good. */
export interface FetchedKeys {
  readonly keys: KeySet;
  /** The set as text, by which two sets are compared. */
  readonly text: string;
  readonly maxAgeSeconds: number | undefined;
}

// More than any issuer needs.
const TIMEOUT_MS = 5_000;
const MAX_BYTES = 256 * 1_024;
const MAX_KEYS = 100;

/** @throws BehestError for an address that keys must not come from */
export function keysAddress(address: string, allowInsecure = false): string {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  const isLocal = url && ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname);
  if (!url || !(url.protocol === 'https:' || (url.protocol === 'http:' && (isLocal || allowInsecure)))) {
    throw new BehestError('CONFIGURATION', 'The address of the keys has to begin with https://.');
  }
  url.hash = '';
  return url.href;
}

/**
 * Fetches a JWK Set. Edge runtimes know no `redirect: 'error'`; here no redirect is followed, because it is no answer
 * with status 200.
 *
 * @throws BehestNetworkError for every failure
 */
export async function fetchKeys(url: string, fetch: Fetch): Promise<FetchedKeys> {
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const answer = await fetch(url, { headers: { accept: 'application/json' }, redirect: 'manual', signal });
    if (answer.status !== 200) throw new Error(`the status is ${answer.status}`);
    const text = await textOf(answer);
    const maxAge = /(?:^|[\s,])max-age=(\d{1,9})/i.exec(answer.headers.get('cache-control') ?? '')?.[1];
    return { keys: readKeys(text), text, maxAgeSeconds: maxAge === undefined ? undefined : Number(maxAge) };
  } catch (cause) {
    throw new BehestNetworkError('The keys of the issuer could not be fetched.', { cause });
  }
}

/** @throws TypeError for a text without a usable key */
export function readKeys(text: string): KeySet {
  const jwks: unknown = JSON.parse(text);
  const listed: unknown = Object(jwks).keys;
  if (Array.isArray(listed) && listed.length > MAX_KEYS)
    throw new TypeError('The JWK Set has too many keys.');
  const keys = keySetOf(jwks);
  const usable = [...keys.byId.values()].filter(
    ({ kty, use }) => use === 'sig' && (kty === 'RSA' || kty === 'EC'),
  );
  if (usable.length === 0) throw new TypeError('The JWK Set has no usable key.');
  return keys;
}

async function textOf(answer: Response): Promise<string> {
  const reader = answer.body?.getReader();
  if (!reader) throw new Error('the answer is empty');
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    bytes += value.byteLength;
    if (bytes > MAX_BYTES) {
      await reader.cancel();
      throw new Error('the answer is too large');
    }
    parts.push(value);
  }
  const whole = new Uint8Array(bytes);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.byteLength;
  }
  return new TextDecoder('utf-8', { fatal: true }).decode(whole);
}
