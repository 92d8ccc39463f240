import { createHash, createPublicKey, type JsonWebKey, verify } from 'node:crypto';
import { type ArchiveVerdict, checkEvidenceArchive } from '@behest/protocol/evidence-archive';
import { checkEvidencePack, type PackVerdict, type PackVerifier } from '@behest/protocol/evidence-pack';
import { keySetOf, type VerificationJwk } from '@behest/protocol/key-set';

/**
 * Checks an evidence pack on any machine.
 * @param pack the bytes of the pack
 * @param jwks the JWK Set of the service, kept or fetched from `/.well-known/jwks.json`
 */
export function checkPack(pack: Uint8Array, jwks: unknown): PackVerdict {
  return checkEvidencePack(pack, { ...means, keys: keySetOf(jwks) });
}

/** Checks the archive of a pack in the same way. */
export function checkArchive(archive: Uint8Array, jwks: unknown): ArchiveVerdict {
  return checkEvidenceArchive(archive, { ...means, keys: keySetOf(jwks) });
}

const means: Omit<PackVerifier<VerificationJwk>, 'keys'> = {
  verifySignature: ({ alg, key, signed, signature }) => {
    const publicKey = createPublicKey({ key: { ...key } as JsonWebKey, format: 'jwk' });
    const encoding = alg === 'ES256' ? ({ dsaEncoding: 'ieee-p1363' } as const) : {};
    return verify('sha256', signed, { key: publicKey, ...encoding }, signature);
  },
  sha256: (text) => createHash('sha256').update(text).digest('hex'),
};
