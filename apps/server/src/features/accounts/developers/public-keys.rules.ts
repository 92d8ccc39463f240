import { createPublicKey, type JsonWebKey } from 'node:crypto';

const SHORTEST_RSA = 2048; // bits
const LEAST_EXPONENT = 65_537n; // with 1, every message is its own signature

/** Whether a public key of the right shape is a real key of sufficient strength. */
export function isUsableKey(jwk: JsonWebKey): boolean {
  try {
    const { asymmetricKeyDetails } = createPublicKey({ key: jwk, format: 'jwk' });
    const { modulusLength = SHORTEST_RSA, publicExponent = LEAST_EXPONENT } = asymmetricKeyDetails ?? {};
    return modulusLength >= SHORTEST_RSA && publicExponent >= LEAST_EXPONENT;
  } catch {
    return false;
  }
}
