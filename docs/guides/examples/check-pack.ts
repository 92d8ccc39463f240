import { createHash, createPublicKey, type JsonWebKey, verify } from 'node:crypto';
import { checkEvidencePack, type PackVerdict } from '@behest/protocol/evidence-pack';
import { keySetOf, type VerificationJwk } from '@behest/protocol/key-set';

/**
 * Checks an evidence pack on any machine.
 * @param pack the bytes of the pack
 * @param jwks the JWK Set of the service, kept or fetched from `/.well-known/jwks.json`
 */
export function checkPack(pack: Uint8Array, jwks: unknown): PackVerdict {
  return checkEvidencePack<VerificationJwk>(pack, {
    keys: keySetOf(jwks),
    verifySignature: ({ alg, key, signed, signature }) => {
      const publicKey = createPublicKey({ key: { ...key } as JsonWebKey, format: 'jwk' });
      const encoding = alg === 'ES256' ? ({ dsaEncoding: 'ieee-p1363' } as const) : {};
      return verify('sha256', signed, { key: publicKey, ...encoding }, signature);
    },
    sha256: (text) => createHash('sha256').update(text).digest('hex'),
  });
}
