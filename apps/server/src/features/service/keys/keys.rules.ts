import { createHash, type KeyObject, verify } from 'node:crypto';
import { type Ed25519Jwk, keyIdOf, type NamedJwk, thumbprintText } from '@behest/protocol/key-id';
import type { KeySet } from '@behest/protocol/key-set';
import type { SignatureToCheck } from '@behest/protocol/token-verifier';
import type { JwkSet, PublishedJwk } from './keys.schema.ts';

export type SigningAlg = PublishedJwk['alg'];

/** A public key that verifies tokens, under the id by which tokens name it. */
export interface VerificationKey {
  readonly jwk: PublishedJwk;
  /** RFC 7638. It identifies the key, whatever the key's id. */
  readonly thumbprint: string;
  readonly publicKey: KeyObject;
}

/** A key of the service, with its private half. */
export interface SigningKey extends VerificationKey {
  readonly privateKey: KeyObject;
}

/**
 * Proves the service's statements under its DID. It signs no token: token verifiers take RSA and EC keys
 * only.
 */
export interface IdentityKey {
  readonly jwk: Ed25519Jwk & { readonly kid: string };
  readonly thumbprint: string;
  readonly privateKey: KeyObject;
}

/** The keys that the operator configured, and how the service uses them. */
export interface KeySettings {
  readonly rsa: SigningKey | undefined;
  readonly ec: SigningKey | undefined;
  readonly ed25519: IdentityKey | undefined;
  readonly generatesMissing: boolean;
  readonly signingAlg: SigningAlg;
  /**
   * Keys of other services, and former keys of this service. They verify and are published, and never sign.
   */
  readonly verificationKeys: readonly VerificationKey[];
  /** The RSA key of tokens without `kid` or with a legacy id. Undefined means the service's own RSA key. */
  readonly legacyKey: VerificationKey | undefined;
  readonly legacyMonths: number;
  readonly activationDelaySeconds: number;
  readonly vaultKey: KeyObject | undefined;
  readonly previousVaultKeys: readonly KeyObject[];
  /** Undefined when the settings alone hold the keys. */
  readonly store: KeyStoreSettings | undefined;
  /** Former identity keys, as Multikeys. */
  readonly formerIdentities: readonly string[];
}

/** How the keys in the database live. */
export interface KeyStoreSettings {
  /** The seconds for which a retired key stays published. */
  readonly retiredGraceSeconds: number;
  /** The seconds from one key of the signing algorithm to the next; 0 when only the operator rotates. */
  readonly rotationSeconds: number;
}

/**
 * The id follows from the key alone, so it is the same on every instance and at every time.
 * @see RFC 7638
 */
export function verificationKey(publicKey: KeyObject): VerificationKey {
  const { kty, n = '', e = '', crv, x = '', y = '' } = publicKey.export({ format: 'jwk' });
  if (kty === 'RSA') {
    const jwk: PublishedJwk = { kty, kid: idOf({ kty, n, e }), use: 'sig', alg: 'RS256', n, e };
    return { jwk, thumbprint: sha256(thumbprintText(jwk)), publicKey };
  }
  if (kty === 'EC' && crv === 'P-256') {
    const jwk: PublishedJwk = { kty, kid: idOf({ kty, crv, x, y }), use: 'sig', alg: 'ES256', crv, x, y };
    return { jwk, thumbprint: sha256(thumbprintText(jwk)), publicKey };
  }
  throw new TypeError('Only RSA and P-256 keys verify tokens.');
}

/** @see RFC 8037 section 2 */
export function identityKey(publicKey: KeyObject, privateKey: KeyObject): IdentityKey {
  const { kty, crv, x = '' } = publicKey.export({ format: 'jwk' });
  if (kty !== 'OKP' || crv !== 'Ed25519') throw new TypeError('Only Ed25519 keys prove the identity.');
  const jwk = { kty, kid: idOf({ kty, crv, x }), crv, x } as const;
  return { jwk, thumbprint: sha256(thumbprintText(jwk)), privateKey };
}

const idOf = (jwk: NamedJwk) => keyIdOf(jwk, sha256);
const sha256 = (text: string) => createHash('sha256').update(text).digest('base64url');

/** The same key under another id. */
export function renamed(key: VerificationKey, kid: string): VerificationKey {
  return { ...key, jwk: { ...key.jwk, kid } };
}

/**
 * The published keys: RSA before EC keys, own keys before those of others, and last the legacy key under the
 * id of each month, newest first.
 */
export function jwkSet(
  keys: Iterable<VerificationKey>,
  legacyKey: VerificationKey | undefined,
  kids: string[],
): JwkSet {
  const { RS256: rsa = [], ES256: ec = [] } = Object.groupBy(keys, (key) => key.jwk.alg);
  const monthly = legacyKey ? kids.map((kid) => renamed(legacyKey, kid)) : [];
  return { keys: [...rsa, ...ec, ...monthly].map((key) => key.jwk) };
}

/** A key in the form that the verifier of `@behest/protocol` takes. */
export type VerifierKey = PublishedJwk & { readonly publicKey: KeyObject };

export function keySet(
  keys: Iterable<VerificationKey>,
  legacyKey: VerificationKey | undefined,
): KeySet<VerifierKey> {
  const verifierKey = ({ jwk, publicKey }: VerificationKey) => ({ ...jwk, publicKey });
  const byId = new Map(Array.from(keys, (key) => [key.jwk.kid, verifierKey(key)]));
  return { byId, legacy: legacyKey && verifierKey(legacyKey) };
}

/**
 * Checks a signature for that verifier. Synchronous, because the check takes less time than a change of
 * threads.
 */
export function verifySignature({ key, signed, signature }: SignatureToCheck<VerifierKey>): boolean {
  return verify('sha256', signed, { key: key.publicKey, dsaEncoding: 'ieee-p1363' }, signature);
}
