import { encodeBase64url } from '@behest/protocol/base64url';
import { calculateJwkThumbprint, EmbeddedJWK, jwtVerify } from 'jose';

/** A request with the proof that came with it. */
export interface PresentedProof {
  /** The value of the `DPoP` header. */
  readonly proof: string | undefined;
  readonly method: string;
  /** The address that the client called, as the client sees it. */
  readonly url: string;
  /**
   * Remembers a proof for two minutes, in a store that all instances share.
   *
   * @returns true for one that came before. Default: proofs are not compared, so a stolen one serves for a minute
   */
  readonly seen?: (proofId: string) => boolean | Promise<boolean>;
}

const SKEW = 60; // seconds before and after, as at the service
const ALGS = ['ES256', 'RS256', 'EdDSA', 'Ed25519'];

/**
 * The thumbprint of the key that made a proof for this request and this token.
 *
 * @returns undefined for a proof that is not good
 * @see RFC 9449, section 4.3
 */
export async function provedKeyOf(
  { proof = '', method, url, seen }: PresentedProof,
  token: string,
  clock: () => number,
): Promise<string | undefined> {
  const signed = await jwtVerify(proof, EmbeddedJWK, {
    ...{ algorithms: ALGS, typ: 'dpop+jwt', currentDate: new Date(clock()) },
    requiredClaims: ['jti', 'iat'],
  }).catch(() => undefined);
  if (!signed) return undefined;
  const { payload, protectedHeader } = signed;
  const { jti, iat = 0, htm, htu, ath } = payload;
  const isTimely = Math.abs(clock() / 1_000 - iat) <= SKEW;
  const place = placeOf(url);
  const isOfRequest = htm === method && place !== undefined && placeOf(String(htu)) === place;
  if (!isTimely || !isOfRequest || ath !== (await hashOf(token)) || typeof jti !== 'string') return undefined;
  const thumbprint = await calculateJwkThumbprint(protectedHeader.jwk ?? {});
  return (await seen?.(`${thumbprint}:${jti}`)) ? undefined : thumbprint;
}

/** An address without its query, in the form in which two of them are compared. */
function placeOf(address: string): string | undefined {
  if (!URL.canParse(address)) return undefined;
  const { origin, pathname } = new URL(address);
  return `${origin}${pathname}`;
}

async function hashOf(token: string): Promise<string> {
  return encodeBase64url(
    new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(token))),
  );
}
