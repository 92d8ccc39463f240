import type { Static } from 'typebox';
import type { PublicJwk } from './shapes.ts';

/** The key of the DID document, which signs no token. */
export interface Ed25519Jwk {
  readonly kty: 'OKP';
  readonly crv: 'Ed25519';
  readonly x: string;
}

export type NamedJwk = Static<typeof PublicJwk> | Ed25519Jwk;

const LEGACY = /^service-[0-9]{4}-(?:0[1-9]|1[0-2])$/;
const THUMBPRINT = /^service-(?:rs256|es256)-[A-Za-z0-9_-]{43}$/;
const ALGORITHMS = { RSA: 'rs256', EC: 'es256', OKP: 'ed25519' } as const;

/** Whether a key id is of the form used before 0.6, `service-YYYY-MM`; all of them name the legacy key. */
export function isLegacyKeyId(keyId: string): boolean {
  return LEGACY.test(keyId);
}

/** Whether a key id says which key it names, as those of `keyIdOf` do for keys that sign tokens. */
export function isThumbprintKeyId(keyId: string): boolean {
  return THUMBPRINT.test(keyId);
}

/**
 * The ids under which the legacy key is published: those of the current month (UTC) and of the ones before.
 *
 * @param months how many in all, the newest first
 * @see the interface specification, Versioning, key ids, rule 3
 */
export function legacyKeyIds(now: Date, months: number): string[] {
  return Array.from({ length: months }, (_, back) => {
    const month = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - back));
    return `service-${month.toISOString().slice(0, 7)}`;
  });
}

/** The text whose SHA-256 is the key's thumbprint. @see RFC 7638, section 3.2; RFC 8037, section 2 */
export function thumbprintText(jwk: NamedJwk): string {
  if (jwk.kty === 'RSA') return JSON.stringify({ e: jwk.e, kty: jwk.kty, n: jwk.n });
  if (jwk.kty === 'EC') return JSON.stringify({ crv: jwk.crv, kty: jwk.kty, x: jwk.x, y: jwk.y });
  return JSON.stringify({ crv: jwk.crv, kty: jwk.kty, x: jwk.x });
}

/**
 * Names a key by its thumbprint, as `service-rs256-<thumbprint>`, so that every instance gives it one name.
 *
 * @param sha256 hashes the UTF-8 of a text, and answers in base64url without padding
 * @see the interface specification, Versioning, key ids, rule 1
 */
export function keyIdOf(jwk: NamedJwk, sha256: (text: string) => string): string {
  return `service-${ALGORITHMS[jwk.kty]}-${sha256(thumbprintText(jwk))}`;
}
