import { encodeBase64url } from '@behest/protocol/base64url';
import { sha256 } from '@noble/hashes/sha2.js';
import { utf8ToBytes } from '@noble/hashes/utils.js';
import { calculateJwkThumbprint, exportJWK, generateKeyPair, SignJWT } from 'jose';
import type { ProofKey } from './api/rows.ts';

/** A key whose possession a program proves with each call. Nobody can read the private half, this program included. */
export interface DpopKey extends ProofKey {
  /** The thumbprint to which a token is bound (RFC 7638). */
  readonly thumbprint: string;
}

/**
 * Makes a key for DPoP.
 *
 * @see RFC 9449, section 4.2
 */
export async function createDpopKey(alg: 'ES256' | 'EdDSA' = 'ES256'): Promise<DpopKey> {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: false });
  const jwk = await exportJWK(publicKey);
  return {
    thumbprint: await calculateJwkThumbprint(jwk),
    proof(method, url, { accessToken, nonce } = {}) {
      const claims = {
        ...{ jti: crypto.randomUUID(), htm: method.toUpperCase(), htu: url.replace(/[?#][\s\S]*$/, '') },
        ...(accessToken !== undefined && { ath: encodeBase64url(sha256(utf8ToBytes(accessToken))) }),
        ...(nonce !== undefined && { nonce }),
      };
      return new SignJWT(claims)
        .setProtectedHeader({ typ: 'dpop+jwt', alg, jwk })
        .setIssuedAt()
        .sign(privateKey);
    },
  };
}
