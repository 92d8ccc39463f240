import type { Digest } from '../audit-parts.ts';
import { decodeBase64url } from '../base64url.ts';
import type { VerificationJwk } from '../key-set.ts';
import { LOG_KEY, type NoteKey, noteKey, readVkey } from '../signed-note.ts';
import { isObject } from './read.ts';

/** Where keys come from: somebody who is trusted, or the receipt itself. */
export interface KeySources {
  readonly did?: unknown;
  readonly jwks?: unknown;
  readonly vkeys?: readonly string[];
}

/**
 * The keys that sign for a log: those that are given as vkeys, and each Ed25519 key of the DID document under the log's
 * name, former keys too.
 */
export function logKeysOf({ did, vkeys = [] }: KeySources, origin: string, sha256: Digest): NoteKey[] {
  const named = vkeys.map((vkey) => readVkey(vkey, sha256)).filter((key) => key?.type === LOG_KEY);
  const listed = methodsOf(did).flatMap((method) => {
    const publicKey = ed25519Of(method);
    return publicKey ? [noteKey(origin, { type: LOG_KEY, publicKey }, sha256)] : [];
  });
  const keys = [...named, ...listed].filter((key) => key?.name === origin);
  return keys.filter((key): key is NoteKey => key !== undefined);
}

/** The keys that sign statements, as a JWK Set: those of the set, and those of the DID document. */
export function signingKeysOf({ did, jwks }: KeySources): { readonly keys: readonly VerificationJwk[] } {
  const listed = isObject(jwks) && Array.isArray(jwks.keys) ? jwks.keys : [];
  const methods = methodsOf(did).map(({ publicKeyJwk }) => publicKeyJwk);
  const known = new Set(listed.map((key) => isObject(key) && key.kid));
  const more = methods.filter((key) => isObject(key) && key.kty !== 'OKP' && !known.has(key.kid));
  return { keys: [...listed, ...more] };
}

function methodsOf(did: unknown): readonly Readonly<Record<string, unknown>>[] {
  const methods = isObject(did) ? did.verificationMethod : undefined;
  return Array.isArray(methods) ? methods.filter(isObject) : [];
}

function ed25519Of({
  publicKeyJwk: jwk,
  publicKeyMultibase: multibase,
}: Readonly<Record<string, unknown>>): Uint8Array | undefined {
  if (isObject(jwk) && jwk.kty === 'OKP' && jwk.crv === 'Ed25519') {
    const bytes = decodeBase64url(String(jwk.x));
    return bytes?.length === 32 ? bytes : undefined;
  }
  const bytes = typeof multibase === 'string' ? base58Of(multibase) : undefined;
  const isEd25519 = bytes?.length === 34 && bytes[0] === 0xed && bytes[1] === 0x01;
  return isEd25519 ? bytes.subarray(2) : undefined;
}

const BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

/**
 * Reads a Multikey: `z`, and 34 bytes in base58.
 *
 * @see https://www.w3.org/TR/cid-1.0/#Multikey
 */
function base58Of(text: string): Uint8Array | undefined {
  if (!/^z[1-9A-HJ-NP-Za-km-z]{1,64}$/.test(text)) return undefined;
  let number = 0n;
  for (const digit of text.slice(1)) number = number * 58n + BigInt(BASE58.indexOf(digit));
  const hex = number.toString(16).padStart(68, '0');
  return new Uint8Array((hex.match(/../g) ?? []).map((byte) => Number.parseInt(byte, 16)));
}
