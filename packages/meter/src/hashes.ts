import { type Counter, MeterError } from '@behest/protocol/enforcement/meter';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';

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

/** Three times as fast, where there is one. */
const native = globalThis.process?.getBuiltinModule?.('node:crypto');

/** SHA-256 without waiting, in every runtime. @returns 64 digits of lower-case hex */
export function hexOf(text: string): string {
  if (native) return native.createHash('sha256').update(text).digest('hex');
  return bytesToHex(sha256(utf8ToBytes(text)));
}

/** The name of a tenant in keys. @see docs/design/enforcement.md */
export function tenantHash(tenant: string): string {
  return hexOf(`behest-cap-tenant:v1\0${tenant}`).slice(0, 32);
}

/** The name of a counter in keys. */
export function counterHash({ key, windowMs }: Counter): string {
  return hexOf(`behest-cap:v1\0${windowMs}\0${key}`);
}

/** Tells two calls under one id apart: what is charged for each, in its order. */
export function fingerprintOf(counters: readonly Counter[]): string {
  return hashOf(JSON.stringify(counters.map(({ key, units, windowMs }) => [key, units, windowMs])));
}

const MOST = 10_000;

/** Remembers the results of a pure function, because the same few tenants and counters come again and again. */
export function remembering<Key, Value>(make: (key: Key) => Value, nameOf: (key: Key) => string) {
  const known = new Map<string, Value>();
  return (key: Key): Value => {
    const name = nameOf(key);
    const found = known.get(name);
    if (found !== undefined) return found;
    if (known.size >= MOST) known.clear(); // rare, and cheaper than an order of use
    const value = make(key);
    known.set(name, value);
    return value;
  };
}

const hashOf = remembering(hexOf, String);
