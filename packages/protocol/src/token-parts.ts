import { decodeBase64url } from './base64url.ts';
import { parseJson } from './json.ts';
import { isTypeOf, type TokenKindName } from './token-kinds.ts';
import { type Refused, refused } from './token-refusal.ts';

const MAX_TOKEN_BYTES = 16_384; // what servers and proxies commonly take as one header, and no more
const MAX_HEADER_BYTES = 2_048;
const MAX_KEY_ID_LENGTH = 256;

export type TokenAlgorithm = 'RS256' | 'ES256'; // the interface specification, Authentication rule 3

export interface TokenHeader {
  readonly alg: TokenAlgorithm;
  readonly kid?: string;
  readonly typ?: string;
}

export interface TokenParts {
  readonly ok: true;
  readonly header: TokenHeader;
  readonly payload: Readonly<Record<string, unknown>>;
  /** The bytes that are signed. */
  readonly signed: Uint8Array<ArrayBuffer>;
  readonly signature: Uint8Array<ArrayBuffer>;
}

/**
 * Takes a compact JWS apart, and lets nothing through that this service would not have written, whoever
 * signed it. No key is known yet, so nothing of the result may be believed.
 *
 * @see RFC 7515, section 5.2; RFC 8725, sections 3.1, 3.8 and 3.11
 */
export function readTokenParts(token: unknown, kind: TokenKindName): TokenParts | Refused {
  // Of what follows only ASCII gets any further, in which a character is a byte.
  if (typeof token !== 'string' || token.length > MAX_TOKEN_BYTES) return refused('malformed');
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
  // Keys are never taken from a token, and nothing in it changes how it is to be read.
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

/** Undefined for what is not one JSON object that every reader understands in one way. */
function readObject(bytes: Uint8Array | undefined): Record<string, unknown> | undefined {
  if (!bytes) return undefined;
  try {
    const value = parseJson(bytes);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined; // JsonError: whatever is wrong with it, the token is malformed
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
