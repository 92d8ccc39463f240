import { createPublicKey, type JsonWebKey } from 'node:crypto';

/** A public key of COSE, decoded (RFC 9052, section 7). */
type CoseKey = ReadonlyMap<number, unknown>;
type Jwk = JsonWebKey & { readonly kty: string };

const LEAST_RSA_BITS = 2048; // RFC 8812, section 2

/** The members of COSE keys. A negative number means something else for each type of key (RFC 9053, section 7). */
const KTY = 1;
const ALG = 3;

/**
 * A COSE key as a JWK. WebAuthn ties each algorithm to one type of key and one curve, and libraries do not check this.
 * @returns undefined for a key that no passkey may have
 * @see https://www.w3.org/TR/webauthn-3/#sctn-alg-identifier
 */
export function jwkOfCose(key: CoseKey): Jwk | undefined {
  const jwk = READERS.get(`${key.get(KTY)} ${key.get(ALG)}`)?.(key);
  return jwk && isKey(jwk) ? jwk : undefined;
}

type Reader = (key: CoseKey) => Jwk | undefined;

/** By the type of key and the algorithm. */
const READERS: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  ['2 -7', ecJwk],
  ['1 -8', okpJwk],
  ['3 -257', rsaJwk],
]);

function ecJwk(key: CoseKey): Jwk | undefined {
  const [x, y] = [text(key.get(-2), 32), text(key.get(-3), 32)];
  return key.get(-1) === 1 && x && y ? { kty: 'EC', crv: 'P-256', x, y } : undefined;
}

function okpJwk(key: CoseKey): Jwk | undefined {
  const x = text(key.get(-2), 32);
  return key.get(-1) === 6 && x ? { kty: 'OKP', crv: 'Ed25519', x } : undefined;
}

function rsaJwk(key: CoseKey): Jwk | undefined {
  const [n, e] = [text(key.get(-1)), text(key.get(-2))];
  return n && e ? { kty: 'RSA', n, e } : undefined;
}

/** In base64url. @param length in bytes, where only one is right */
const text = (value: unknown, length?: number): string | undefined =>
  value instanceof Uint8Array && (length === undefined || value.length === length)
    ? Buffer.from(value).toString('base64url')
    : undefined;

/** Whether the numbers are a key: a point has to be on its curve, and a modulus has to be long. */
function isKey(jwk: Jwk): boolean {
  try {
    const { asymmetricKeyDetails } = createPublicKey({ key: jwk, format: 'jwk' });
    return jwk.kty !== 'RSA' || (asymmetricKeyDetails?.modulusLength ?? 0) >= LEAST_RSA_BITS;
  } catch {
    return false; // whatever is wrong with numbers from outside
  }
}
