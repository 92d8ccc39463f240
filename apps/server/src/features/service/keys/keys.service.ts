import { generateKeyPair, type KeyObject, sign } from 'node:crypto';
import { promisify } from 'node:util';
import { isThumbprintKeyId, legacyKeyIds } from '@behest/protocol/key-id';
import type { KeySet } from '@behest/protocol/key-set';
import type { Clock } from '../../../platform/clock.ts';
import type { MasterKeys } from '../../../platform/envelope.ts';
import { type Finished, finished } from '../../../platform/finished.ts';
import { type DerivedKeys, type DerivedKeyUse, deriveKeys } from './keys.derivation.rules.ts';
import { type ServiceIdentity, serviceDidDocument } from './keys.did.rules.ts';
import {
  type IdentityKey,
  identityKey,
  jwkSet,
  type KeySettings,
  keySet,
  type SigningAlg,
  type SigningKey,
  type VerifierKey,
  verificationKey,
} from './keys.rules.ts';
import { vaultKeys } from './keys.vault.rules.ts';

/** Every key of the process: the current signing key, the verification keys and the secret keys. */
export interface KeyRing {
  /** The key for one token. Ask for each token, because the key changes while the service runs. */
  signer(): Signer;
  /** The keys for `createTokenVerifier`, which asks with each token. */
  verificationKeys(): KeySet<VerifierKey>;
  jwks(): JwksDocument;
  /** The keys that the DID document names. */
  identity(): ServiceIdentity;
  /** Signs with the identity key (RFC 8032). Undefined without such a key. */
  readonly signAsIdentity: ((input: Uint8Array) => Buffer) | undefined;
  /** Secret keys for one use, equal on every instance with the same configuration. */
  derive(use: DerivedKeyUse): DerivedKeys;
  /** The keys that seal the data keys of the vault. */
  readonly vault: MasterKeys;
}

export interface Signer {
  readonly alg: SigningAlg;
  readonly kid: string;
  /** Makes a JWS signature (RFC 7518, sections 3.3 and 3.4) on libuv's threads, not on the event loop. */
  sign(input: Uint8Array): Promise<Buffer>;
}

/** The published set, ready to be sent. */
export interface JwksDocument extends Finished {
  readonly maxAgeSeconds: number;
}

export interface KeyRingDeps {
  readonly clock: Clock;
  /** When the process started: the activation delay runs from here. */
  readonly startedAt: Date;
  readonly warn: (message: string) => void;
  /** The declared labels of derived keys. The key ring derives no other key. */
  readonly uses: readonly string[];
}

const JWKS_MAX_AGE_SECONDS = 300;

/** Generates missing keys when the settings allow it. */
export async function createKeyRing(settings: KeySettings, deps: KeyRingDeps): Promise<KeyRing> {
  const { rsa, ec, ed25519 } = await ownKeys(settings, deps.warn);
  const own = ec ? [rsa, ec] : [rsa];
  const all = [...own, ...settings.verificationKeys];
  const legacyKey = settings.legacyKey ?? rsa;
  const isLegacyOwn = legacyKey.thumbprint === rsa.thumbprint;
  if (!isLegacyOwn) deps.warn(LEGACY_KEY_IS_PUBLIC_ONLY);
  if (!settings.vaultKey && !settings.generatesMissing) deps.warn(NO_VAULT_KEY);

  const keys = keySet(all, legacyKey);
  const settledKey = settings.signingAlg === 'ES256' && ec ? ec : rsa;
  const settled = signerWith(settledKey);
  const named = all.map(({ jwk }) => jwk).filter(({ kid }) => isThumbprintKeyId(kid));
  const activeAt = deps.startedAt.getTime() + settings.activationDelaySeconds * 1000;
  const maxAgeSeconds = Math.min(JWKS_MAX_AGE_SECONDS, settings.activationDelaySeconds);
  const isActive = (now: Date) => now.getTime() >= activeAt;
  let published: { month: number; document: JwksDocument } | undefined;

  return {
    signer() {
      const now = deps.clock();
      if (isActive(now)) return settled;
      return signerWith(rsa, isLegacyOwn ? legacyKeyId(now) : rsa.jwk.kid);
    },
    verificationKeys: () => keys,
    jwks() {
      const now = deps.clock();
      const month = now.getUTCFullYear() * 12 + now.getUTCMonth(); // the legacy ids name months
      if (published?.month !== month) {
        const set = jwkSet(all, legacyKey, legacyKeyIds(now, settings.legacyMonths));
        published = { month, document: { ...finished(JSON.stringify(set)), maxAgeSeconds } };
      }
      return published.document;
    },
    identity() {
      const signing = isActive(deps.clock()) ? settledKey : rsa;
      return { keys: named, signingKid: signing.jwk.kid, ed25519: ed25519?.jwk };
    },
    signAsIdentity: ed25519 && ((input) => sign(null, input, ed25519.privateKey)),
    vault: vaultKeys(settings.vaultKey, settings.previousVaultKeys),
    derive(use) {
      if (!deps.uses.includes(use)) throw new Error(`No feature declares the key use ${use}.`);
      return deriveKeys(use, { ...settings, rsaKey: rsa.privateKey });
    },
  };
}

const legacyKeyId = (at: Date) => legacyKeyIds(at, 1).join();

const NO_VAULT_KEY =
  'VAULT_ENCRYPTION_KEY is not set: RSA_PRIVATE_KEY seals stored values, so set it before you replace RSA_PRIVATE_KEY';

const LEGACY_KEY_IS_PUBLIC_ONLY =
  'JWT_LEGACY_KID_KEY does not belong to RSA_PRIVATE_KEY, which signs under its own key id from the start';

/** @throws when a key is missing and may not be generated. The configuration rules this out. */
async function ownKeys(settings: KeySettings, warn: KeyRingDeps['warn']) {
  const { generatesMissing, signingAlg } = settings;
  const lacksRsa = !settings.rsa;
  const lacksEc = !settings.ec && signingAlg === 'ES256';
  const lacksEd25519 = !settings.ed25519 && generatesMissing;
  if (!generatesMissing && (lacksRsa || lacksEc)) throw new Error('A signing key is missing.');
  if (lacksRsa || lacksEc || lacksEd25519)
    warn('ephemeral keys: tokens and stored credentials do not survive a restart');

  const rsa = settings.rsa ?? signingKey(await newKeyPair('rsa', { modulusLength: 2048 }));
  const ec = lacksEc ? signingKey(await newKeyPair('ec', { namedCurve: 'P-256' })) : settings.ec;
  const ed25519 = lacksEd25519 ? await newIdentityKey() : settings.ed25519;
  return { rsa, ec, ed25519 };
}

const newKeyPair = promisify(generateKeyPair);

const signingKey = (pair: { publicKey: KeyObject; privateKey: KeyObject }): SigningKey => ({
  ...verificationKey(pair.publicKey),
  privateKey: pair.privateKey,
});

async function newIdentityKey(): Promise<IdentityKey> {
  const { publicKey, privateKey } = await newKeyPair('ed25519');
  return identityKey(publicKey, privateKey);
}

const signAsync = promisify(sign);

function signerWith({ jwk, privateKey }: SigningKey, kid = jwk.kid): Signer {
  // JWS wants ECDSA signatures as r‖s, and OpenSSL makes DER by default. RSA has no such option, and Node would take a
  // third longer to begin a signature with one.
  const key = jwk.alg === 'ES256' ? { key: privateKey, dsaEncoding: 'ieee-p1363' as const } : privateKey;
  return { alg: jwk.alg, kid, sign: (input) => signAsync('sha256', input, key) };
}

export interface DidDeps {
  readonly keyRing: KeyRing;
  /** The host as in a URL, with the port if there is a port. */
  readonly didHost: string;
  readonly publicBaseUrl: string;
}

/** The DID document, made again when the signing key changes. */
export function serviceDidDocuments({ keyRing, didHost, publicBaseUrl }: DidDeps): () => Finished {
  let made: { signingKid: string; document: Finished } | undefined;
  return () => {
    const identity = keyRing.identity();
    const { signingKid } = identity;
    if (made?.signingKid !== signingKid) {
      const text = JSON.stringify(serviceDidDocument(didHost, publicBaseUrl, identity));
      made = { signingKid, document: finished(text) };
    }
    return made.document;
  };
}
