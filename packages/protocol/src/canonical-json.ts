import canonicalize from 'canonicalize';
import { encodeBase64url } from './base64url.ts';

/**
 * Writes a value of JSON in its canonical form, which is the same in every language.
 *
 * @throws Error for a number that is not finite, half a surrogate pair, or a value that is not of JSON
 * @see RFC 8785
 */
export function canonicalJson(value: object): string {
  const text = canonicalize(value);
  if (text === undefined) throw new TypeError('The value is not JSON.');
  return text;
}

/** Hashes the UTF-8 of a text with SHA-256. */
async function sha256(text: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)));
}

/** SHA-256 of a text's UTF-8, as 64 digits of lower-case hex. */
export async function sha256Hex(text: string): Promise<string> {
  return Array.from(await sha256(text), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** SHA-256 of a text's UTF-8, as `sha256:` and 43 characters of base64url. */
export async function sha256Uri(text: string): Promise<string> {
  return `sha256:${encodeBase64url(await sha256(text))}`;
}
