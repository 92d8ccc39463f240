import { asciiJson } from '@behest/protocol/ascii-json';
import type { KeyRing, Signer } from './keys.ts';

/**
 * Signs claims with the current signing key.
 * @param typ the header parameter that keeps one kind of token from passing for another (RFC 8725, section
 * 3.11)
 * @param content the type of the content, of a kind that names it
 * @returns a compact JWS (RFC 7515, section 3.1) in ASCII
 */
export async function signToken(
  keyRing: KeyRing,
  typ: string,
  claims: object,
  content?: { readonly cty: 'vc' },
): Promise<string> {
  return signWith(keyRing.signer(), { typ, ...content }, claims);
}

/** Signs the claims of a security event token (RFC 8417), which is RS256 whatever signs other tokens. */
export const signSet = (keyRing: KeyRing, claims: object): Promise<string> =>
  signWith(keyRing.rsaSigner(), { typ: 'secevent+jwt' }, claims);

async function signWith({ alg, kid, sign }: Signer, header: object, claims: object): Promise<string> {
  const signed = `${encoded({ alg, kid, ...header })}.${encoded(claims)}`;
  return `${signed}.${(await sign(Buffer.from(signed))).toString('base64url')}`;
}

/**
 * Signs a text that stands elsewhere (RFC 7515, appendix F).
 * @returns a compact JWS whose payload is left out
 */
export async function signDetached(keyRing: KeyRing, typ: string, text: string) {
  const { alg, kid, sign } = keyRing.signer();
  const header = encoded({ alg, kid, typ });
  const signed = `${header}.${Buffer.from(text).toString('base64url')}`;
  const signature = (await sign(Buffer.from(signed))).toString('base64url');
  return { alg, kid, signature: `${header}..${signature}` };
}

const encoded = (value: object) => Buffer.from(asciiJson(value)).toString('base64url');
