import { asciiJson } from '@behest/protocol/ascii-json';
import type { KeyRing } from './keys.service.ts';

/**
 * Signs claims with the current signing key.
 * @param typ the header parameter that keeps one kind of token from passing for another (RFC 8725, section
 * 3.11)
 * @returns a compact JWS (RFC 7515, section 3.1) in ASCII
 */
export async function signToken(keyRing: KeyRing, typ: string, claims: object): Promise<string> {
  const { alg, kid, sign } = keyRing.signer();
  const signed = `${encoded({ alg, kid, typ })}.${encoded(claims)}`;
  return `${signed}.${(await sign(Buffer.from(signed))).toString('base64url')}`;
}

const encoded = (value: object) => Buffer.from(asciiJson(value)).toString('base64url');
