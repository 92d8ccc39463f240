import { isLegacyKeyId } from './key-id.ts';
import type { TokenAlgorithm, TokenHeader } from './token-parts.ts';
import { type Refused, refused } from './token-refusal.ts';

/** A public key as a JWK (RFC 7517), of which nothing has been checked. */
export interface VerificationJwk {
  readonly kty?: unknown;
  readonly kid?: unknown;
  readonly use?: unknown;
  readonly alg?: unknown;
  readonly crv?: unknown;
  readonly n?: unknown;
}

/**
 * The keys a verifier knows, by key id. A map, in which no id means more than another: an object would have
 * `__proto__` and `constructor` from the start.
 */
export interface KeySet<Key extends VerificationJwk = VerificationJwk> {
  readonly byId: ReadonlyMap<string, Key>;
  /** Verifies RS256 tokens that name no key, or one by month. */
  readonly legacy: Key | undefined;
}

/** The one key that somebody else may have signed with, who need not name it. */
export interface OneKey<Key extends VerificationJwk> {
  readonly only: Key;
}

/**
 * Makes a key set of a JWK Set. Its legacy key is the entry with the newest `service-YYYY-MM` id, since the
 * set says nothing else of it. Entries without an id cannot be named by a token and are left out; so are
 * entries that share an id without being one key, as neither can be meant.
 *
 * @throws TypeError when the value is not a JWK Set
 * @see RFC 7517, section 5
 */
export function keySetOf(jwks: unknown): KeySet {
  const keys = objectOf(jwks)?.keys;
  if (!Array.isArray(keys)) throw new TypeError('not a JWK Set');
  const byId = new Map<string, VerificationJwk>();
  const ambiguous = new Set<string>();
  for (const key of keys.map(objectOf)) {
    if (typeof key?.kid !== 'string') continue;
    const earlier = byId.get(key.kid);
    if (earlier && JSON.stringify(earlier) !== JSON.stringify(key)) ambiguous.add(key.kid);
    byId.set(key.kid, key);
  }
  for (const id of ambiguous) byId.delete(id);
  const newest = [...byId.keys()].filter(isLegacyKeyId).sort().at(-1);
  return { byId, legacy: newest === undefined ? undefined : byId.get(newest) };
}

/**
 * Finds the one key that a token may have been signed with. No other is tried.
 *
 * @see the interface specification, Authentication rule 3 and Versioning, key ids, rule 2
 */
export function findKey<Key extends VerificationJwk>(
  { alg, kid }: TokenHeader,
  keys: KeySet<Key> | OneKey<Key>,
): { ok: true; key: Key } | Refused {
  if ('only' in keys)
    return isFor(alg, keys.only) ? { ok: true, key: keys.only } : refused('key_inconsistent');
  const isLegacy = kid === undefined || isLegacyKeyId(kid);
  if (isLegacy && alg !== 'RS256') return refused('key_not_found');
  const key = isLegacy ? keys.legacy : keys.byId.get(kid);
  if (!key) return refused('key_not_found');
  return isFor(alg, key) ? { ok: true, key } : refused('key_inconsistent');
}

/** The length in bytes of the only signatures that the key can make. */
export function signatureLength(alg: TokenAlgorithm, key: VerificationJwk): number {
  return alg === 'ES256' ? 64 : Math.ceil(modulusBits(key.n) / 8);
}

function isFor(alg: TokenAlgorithm, { kty, alg: keyAlg, use, crv, n }: VerificationJwk): boolean {
  if (use !== 'sig' || keyAlg !== alg) return false;
  return alg === 'ES256' ? kty === 'EC' && crv === 'P-256' : kty === 'RSA' && modulusBits(n) >= 2_048;
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

/** Counted from the first digit that is not zero; decoding the rest would tell no more. */
function modulusBits(modulus: unknown): number {
  if (typeof modulus !== 'string') return 0;
  let first = 0;
  while (modulus[first] === 'A') first += 1;
  const leading = ALPHABET.indexOf(modulus.charAt(first) || 'A');
  const bytes = Math.floor((modulus.length * 6) / 8);
  return leading > 0 ? bytes * 8 - first * 6 - Math.clz32(leading) + 26 : 0;
}

function objectOf(value: unknown): Record<string, unknown> | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined;
}
