import type { Static } from 'typebox';
import type { PublicJwk } from './shapes.ts';

/** The public key of the DID document. It signs no token. */
export interface Ed25519Jwk {
  readonly kty: 'OKP';
  readonly crv: 'Ed25519';
  readonly x: string;
}

/** A public key that has a thumbprint. */
export type NamedJwk = Static<typeof PublicJwk> | Ed25519Jwk;

const LEGACY = /^service-[0-9]{4}-(?:0[1-9]|1[0-2])$/;
const THUMBPRINT = /^service-(?:rs256|es256)-[A-Za-z0-9_-]{43}$/;
const ALGORITHMS = { RSA: 'rs256', EC: 'es256', OKP: 'ed25519' } as const;

/** Tells whether a key id has the form from before 0.6, `service-YYYY-MM`. All such ids name the legacy key. */
export function isLegacyKeyId(keyId: string): boolean {
  return LEGACY.test(keyId);
}

/** Tells whether a key id has the form that `keyIdOf` makes for a key that signs tokens. */
export function isThumbprintKeyId(keyId: string): boolean {
  return THUMBPRINT.test(keyId);
}

/**
 * Lists the ids under which the legacy key is published: the current month (UTC) and the months before.
 *
 * @param months the number of ids
 * @returns the ids, the newest first
 */
export function legacyKeyIds(now: Date, months: number): string[] {
  return Array.from({ length: months }, (_, back) => {
    const month = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - back));
    return `service-${month.toISOString().slice(0, 7)}`;
  });
}

/**
 * Makes the text whose SHA-256 is the thumbprint of a key.
 *
 * @see RFC 7638, section 3.2; RFC 8037, section 2
 */
export function thumbprintText(jwk: NamedJwk): string {
  if (jwk.kty === 'RSA') return JSON.stringify({ e: jwk.e, kty: jwk.kty, n: jwk.n });
  if (jwk.kty === 'EC') return JSON.stringify({ crv: jwk.crv, kty: jwk.kty, x: jwk.x, y: jwk.y });
  return JSON.stringify({ crv: jwk.crv, kty: jwk.kty, x: jwk.x });
}

/**
 * Names a key by its thumbprint, as `service-rs256-<thumbprint>`, so that every instance gives it the same name.
 *
 * @param sha256 hashes the UTF-8 of a text to base64url without padding
 * @see RFC 7638
 */
export function keyIdOf(jwk: NamedJwk, sha256: (text: string) => string): string {
  return `service-${ALGORITHMS[jwk.kty]}-${sha256(thumbprintText(jwk))}`;
}
