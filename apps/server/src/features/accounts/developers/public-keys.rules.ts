import { createPublicKey, type JsonWebKey } from 'node:crypto';

const SHORTEST_RSA = 2048; // bits
const LEAST_EXPONENT = 65_537n; // with 1, every message is its own signature

/** Whether the members of a public key, which have the right shape, also make a key that proves anything. */
export function isUsableKey(jwk: JsonWebKey): boolean {
  try {
    const { asymmetricKeyDetails } = createPublicKey({ key: jwk, format: 'jwk' });
    const { modulusLength = SHORTEST_RSA, publicExponent = LEAST_EXPONENT } = asymmetricKeyDetails ?? {};
    return modulusLength >= SHORTEST_RSA && publicExponent >= LEAST_EXPONENT;
  } catch {
    return false;
  }
}
