import { decodeBase64url } from './base64url.ts';
import { parseJson } from './json.ts';
import { isTypeOf, mostBytesOf, type TokenKindName } from './token-kinds.ts';
import { type Refused, refused } from './token-refusal.ts';

const MAX_HEADER_BYTES = 2_048;
const MAX_KEY_ID_LENGTH = 256;

/** The signature algorithms. */
export type TokenAlgorithm = 'RS256' | 'ES256';

/** The header of a token, with the only members that it may have. */
export interface TokenHeader {
  readonly alg: TokenAlgorithm;
  readonly kid?: string;
  readonly typ?: string;
}

/** A token taken apart, before its signature is checked. */
export interface TokenParts {
  readonly ok: true;
  readonly header: TokenHeader;
  readonly payload: Readonly<Record<string, unknown>>;
  /** The bytes that the signature covers. */
  readonly signed: Uint8Array<ArrayBuffer>;
  readonly signature: Uint8Array<ArrayBuffer>;
}

/**
 * Takes a compact JWS apart, and refuses every form that the service does not write. No signature is checked here,
 * so the caller must not trust the result.
 *
 * @param token any value; at most as many bytes as its kind has, 16,384 for most
 * @returns the parts, or the refusal
 * @see RFC 7515, section 5.2; RFC 8725, sections 3.1, 3.8 and 3.11
 */
export function readTokenParts(token: unknown, kind: TokenKindName): TokenParts | Refused {
  // The parts have to be ASCII, so a character is a byte.
  if (typeof token !== 'string' || token.length > mostBytesOf(kind)) return refused('malformed');
  const [headerText = '', payloadText = '', signatureText = '', ...more] = token.split('.', 4);
  if (more.length > 0) return refused('malformed');
  const headerBytes = decodeBase64url(headerText);
  const payload = readObject(decodeBase64url(payloadText));
  const signature = decodeBase64url(signatureText);
  if (!headerBytes || !payload || !signature || signature.length === 0) return refused('malformed');
  if (headerBytes.length > MAX_HEADER_BYTES) return refused('header_not_allowed');
  const members = readObject(headerBytes);
  if (!members) return refused('malformed');
  const header = readHeader(members, kind);
  if (!header.ok) return header;
  const signed = new TextEncoder().encode(token.slice(0, token.lastIndexOf('.')));
  return { ok: true, header: header.header, payload, signed, signature };
}

function readHeader(
  { alg, kid, typ, cty, ...others }: Readonly<Record<string, unknown>>,
  kind: TokenKindName,
): { ok: true; header: TokenHeader } | Refused {
  if (alg !== 'RS256' && alg !== 'ES256') return refused('alg_not_allowed');
  // A token cannot bring its own key, and no member of its header may change how it is read.
  if (Object.keys(others).length > 0) return refused('header_not_allowed');
  if (cty !== undefined && (cty !== 'vc' || kind !== 'verifiable-credential')) {
    return refused('header_not_allowed');
  }
  if (!isTypeOf(kind, typ)) return refused('typ_not_allowed');
  if (kid !== undefined && !isKeyId(kid)) return refused('malformed');
  return {
    ok: true,
    header: { alg, ...(kid !== undefined && { kid }), ...(typeof typ === 'string' && { typ }) },
  };
}

function isKeyId(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= MAX_KEY_ID_LENGTH;
}

/** @returns undefined unless the bytes are one JSON object that every reader understands in the same way */
function readObject(bytes: Uint8Array | undefined): Record<string, unknown> | undefined {
  if (!bytes) return undefined;
  try {
    const value = parseJson(bytes);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined; // JsonError: every fault of the JSON makes the token malformed
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
