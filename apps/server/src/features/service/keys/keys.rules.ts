import { createHash, type KeyObject, verify } from 'node:crypto';
import { type Ed25519Jwk, keyIdOf, type NamedJwk, thumbprintText } from '@behest/protocol/key-id';
import type { KeySet } from '@behest/protocol/key-set';
import type { SignatureToCheck } from '@behest/protocol/token-verifier';
import type { JwkSet, PublishedJwk } from './keys.schema.ts';

export type SigningAlg = PublishedJwk['alg'];

/** A public key that tokens are verified with, under the id by which tokens name it. */
export interface VerificationKey {
  readonly jwk: PublishedJwk;
  /** RFC 7638; what the key is, whatever its id. */
  readonly thumbprint: string;
  readonly publicKey: KeyObject;
}

/** One of the service's own keys, whose private half is here. */
export interface SigningKey extends VerificationKey {
  readonly privateKey: KeyObject;
}

/** Proves what the service says under its DID, and signs no token: verifiers of those take RSA and EC only. */
export interface IdentityKey {
  readonly jwk: Ed25519Jwk & { readonly kid: string };
  readonly thumbprint: string;
  readonly privateKey: KeyObject;
}

/** What the operator configured. */
export interface KeySettings {
  readonly rsa: SigningKey | undefined;
  readonly ec: SigningKey | undefined;
  readonly ed25519: IdentityKey | undefined;
  readonly generatesMissing: boolean;
  readonly signingAlg: SigningAlg;
  /** Keys of others, and former own ones: they verify and are published, and never sign. */
  readonly verificationKeys: readonly VerificationKey[];
  /** The RSA key meant by tokens without `kid` and by legacy ids; undefined: the own RSA key. */
  readonly legacyKey: VerificationKey | undefined;
  readonly legacyMonths: number;
  readonly activationDelaySeconds: number;
  readonly vaultKey: KeyObject | undefined;
  readonly previousVaultKeys: readonly KeyObject[];
}

/**
 * The id is the same on every instance and at every time, since it follows from the key alone.
 * @see RFC 7638, and specification, Versioning, Key ids rule 1
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
 * What verifiers are given: RSA before EC keys, own before others', and last the legacy key under the id of
 * each month, newest first.
 */
export function jwkSet(keys: Iterable<VerificationKey>, legacyKey: VerificationKey, kids: string[]): JwkSet {
  const { RS256: rsa = [], ES256: ec = [] } = Object.groupBy(keys, (key) => key.jwk.alg);
  const monthly = kids.map((kid) => renamed(legacyKey, kid));
  return { keys: [...rsa, ...ec, ...monthly].map((key) => key.jwk) };
}

/** A key as the verifier of `@behest/protocol` takes it. */
export type VerifierKey = PublishedJwk & { readonly publicKey: KeyObject };

export function keySet(keys: Iterable<VerificationKey>, legacyKey: VerificationKey): KeySet<VerifierKey> {
  const verifierKey = ({ jwk, publicKey }: VerificationKey) => ({ ...jwk, publicKey });
  const byId = new Map(Array.from(keys, (key) => [key.jwk.kid, verifierKey(key)]));
  return { byId, legacy: verifierKey(legacyKey) };
}

/** The signature primitive of that verifier: synchronous, since it takes less than handing it to a thread. */
export function verifySignature({ key, signed, signature }: SignatureToCheck<VerifierKey>): boolean {
  return verify('sha256', signed, { key: key.publicKey, dsaEncoding: 'ieee-p1363' }, signature);
}
