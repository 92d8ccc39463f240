import type { webcrypto } from 'node:crypto';
import type { VerificationJwk } from '@behest/protocol/key-set';
import type { SignatureToCheck } from '@behest/protocol/token-verifier';

const imports = new WeakMap<VerificationJwk, Promise<webcrypto.CryptoKey>>();

/** Checks one signature with WebCrypto, which every runtime has. A key is imported once. */
export async function verifySignature({
  alg,
  key,
  signed,
  signature,
}: SignatureToCheck<VerificationJwk>): Promise<boolean> {
  const algorithm =
    alg === 'RS256'
      ? { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' }
      : { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
  let imported = imports.get(key);
  if (!imported) {
    // WebCrypto itself checks the members, whose types are unknown here.
    imported = crypto.subtle.importKey('jwk', key as webcrypto.JsonWebKey, algorithm, false, ['verify']);
    imports.set(key, imported);
  }
  return crypto.subtle.verify(algorithm, await imported, signature, signed);
}
