import { isLegacyKeyId } from './key-id.ts';
import type { TokenAlgorithm, TokenHeader } from './token-parts.ts';
import { type Refused, refused } from './token-refusal.ts';

/** A public key as a JWK (RFC 7517), with members that have not been checked. */
export interface VerificationJwk {
  readonly kty?: unknown;
  readonly kid?: unknown;
  readonly use?: unknown;
  readonly alg?: unknown;
  readonly crv?: unknown;
  readonly n?: unknown;
}

/**
 * The keys that a verifier knows, by key id. The ids are in a map, because an object has members such as
 * `constructor` from the start.
 */
export interface KeySet<Key extends VerificationJwk = VerificationJwk> {
  readonly byId: ReadonlyMap<string, Key>;
  /** The key of RS256 tokens that name no key, or name a month. */
  readonly legacy: Key | undefined;
}

/** The only key of a signer outside the service. Its tokens need not name it. */
export interface OneKey<Key extends VerificationJwk> {
  readonly only: Key;
}

/**
 * Makes a key set from a JWK Set. The entry with the newest `service-YYYY-MM` id becomes the legacy key. The
 * function leaves out an entry without an id, which no token can name, and different entries with the same id,
 * which no token can tell apart.
 *
 * @param jwks the parsed document, not trusted
 * @throws TypeError when the value is not a JWK Set
 * @see RFC 7517, section 5
 *
 * @example
 * ```ts
 * const answer = await fetch('https://auth.example.com/.well-known/jwks.json');
 * const keys = keySetOf(await answer.json());
 * ```
 */
export function keySetOf(jwks: unknown): KeySet {
  const keys = objectOf(jwks)?.keys;
  if (!Array.isArray(keys)) throw new TypeError('The value is not a JWK Set: it has no array `keys`.');
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
 * Finds the one key that may have signed a token. The verifier tries no other key.
 *
 * @returns the key, or the refusal `key_not_found` or `key_inconsistent` (the key is for another algorithm or use)
 * @see RFC 7517, section 5
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

/** @returns the length, in bytes, of every signature of the key */
export function signatureLength(alg: TokenAlgorithm, key: VerificationJwk): number {
  return alg === 'ES256' ? 64 : Math.ceil(modulusBits(key.n) / 8);
}

function isFor(alg: TokenAlgorithm, { kty, alg: keyAlg, use, crv, n }: VerificationJwk): boolean {
  if (use !== 'sig' || keyAlg !== alg) return false;
  return alg === 'ES256' ? kty === 'EC' && crv === 'P-256' : kty === 'RSA' && modulusBits(n) >= 2_048;
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

/** Counts the bits from the first digit that is not zero, without decoding the rest. */
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
