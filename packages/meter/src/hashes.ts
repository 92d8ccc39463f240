import type { Counter } from '@behest/protocol/enforcement/meter';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';

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
