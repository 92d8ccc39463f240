import { createHash, generateKeyPair, type KeyObject, sign } from 'node:crypto';
import { promisify } from 'node:util';
import { legacyKeyIds } from '@behest/protocol/key-id';
import type { KeySet } from '@behest/protocol/key-set';
import type { Clock } from '../../platform/clock.ts';
import { type DerivedKeys, type DerivedKeyUse, deriveKeys } from './keys.derivation.rules.ts';
import {
  jwkSet,
  type KeySettings,
  keySet,
  type SigningAlg,
  type SigningKey,
  type VerifierKey,
  verificationKey,
} from './keys.rules.ts';

/** Every key of the process: one for what it signs next, those it verifies with, those that stay inside. */
export interface KeyRing {
  /** The key for one token. Asked for anew each time, since it changes while the service runs. */
  signer(): Signer;
  /** What `createTokenVerifier` asks for with each token. */
  verificationKeys(): KeySet<VerifierKey>;
  jwks(): JwksDocument;
  /** Secret keys for one use, equal on every instance that is configured alike. */
  derive(use: DerivedKeyUse): DerivedKeys;
}

export interface Signer {
  readonly alg: SigningAlg;
  readonly kid: string;
  /** As JWS wants it (RFC 7518 sections 3.3 and 3.4), made on libuv's threads and not on the event loop. */
  sign(input: Uint8Array): Promise<Buffer>;
}

/** The published set, ready to be sent. */
export interface JwksDocument {
  readonly body: Buffer;
  readonly etag: string;
  readonly maxAgeSeconds: number;
}

export interface KeyRingDeps {
  readonly clock: Clock;
  /** When the process started: the activation delay runs from here. */
  readonly startedAt: Date;
  readonly warn: (message: string) => void;
}

const JWKS_MAX_AGE_SECONDS = 300;

/** Generates what is missing, where the settings allow it. */
export async function createKeyRing(settings: KeySettings, deps: KeyRingDeps): Promise<KeyRing> {
  const { rsa, ec } = await ownKeys(settings, deps.warn);
  const own = ec ? [rsa, ec] : [rsa];
  const all = [...own, ...settings.verificationKeys];
  const legacyKey = settings.legacyKey ?? rsa;
  const isLegacyOwn = legacyKey.thumbprint === rsa.thumbprint;
  if (!isLegacyOwn) deps.warn(LEGACY_KEY_IS_PUBLIC_ONLY);

  const keys = keySet(all, legacyKey);
  const settled = signerWith(settings.signingAlg === 'ES256' && ec ? ec : rsa);
  const activeAt = deps.startedAt.getTime() + settings.activationDelaySeconds * 1000;
  const maxAgeSeconds = Math.min(JWKS_MAX_AGE_SECONDS, settings.activationDelaySeconds);
  let published: { month: string; document: JwksDocument } | undefined;

  return {
    signer() {
      const now = deps.clock();
      if (now.getTime() >= activeAt) return settled;
      return signerWith(rsa, isLegacyOwn ? legacyKeyId(now) : rsa.jwk.kid);
    },
    verificationKeys: () => keys,
    jwks() {
      const now = deps.clock();
      const month = legacyKeyId(now);
      if (published?.month !== month) {
        const set = jwkSet(all, legacyKey, legacyKeyIds(now, settings.legacyMonths));
        const body = Buffer.from(JSON.stringify(set));
        const etag = `"${createHash('sha256').update(body).digest('base64url')}"`;
        published = { month, document: { body, etag, maxAgeSeconds } };
      }
      return published.document;
    },
    derive: (use) => deriveKeys(use, { ...settings, rsaKey: rsa.privateKey }),
  };
}

const legacyKeyId = (at: Date) => legacyKeyIds(at, 1).join();

const LEGACY_KEY_IS_PUBLIC_ONLY =
  'the private half of JWT_LEGACY_KID_KEY is not here: RSA_PRIVATE_KEY signs under its own key id from the start';

/** @throws when a key is missing and may not be generated, which the configuration rules out */
async function ownKeys(settings: KeySettings, warn: KeyRingDeps['warn']) {
  const { generatesMissing, signingAlg } = settings;
  const lacksRsa = !settings.rsa;
  const lacksEc = !settings.ec && signingAlg === 'ES256';
  if (!generatesMissing && (lacksRsa || lacksEc)) throw new Error('A signing key is missing.');
  if (lacksRsa || lacksEc) warn('ephemeral keys: tokens and stored credentials do not survive a restart');

  const rsa = settings.rsa ?? signingKey(await newKeyPair('rsa', { modulusLength: 2048 }));
  const ec = lacksEc ? signingKey(await newKeyPair('ec', { namedCurve: 'P-256' })) : settings.ec;
  return { rsa, ec };
}

const newKeyPair = promisify(generateKeyPair);

const signingKey = (pair: { publicKey: KeyObject; privateKey: KeyObject }): SigningKey => ({
  ...verificationKey(pair.publicKey),
  privateKey: pair.privateKey,
});

const signAsync = promisify(sign);

function signerWith({ jwk, privateKey }: SigningKey, kid = jwk.kid): Signer {
  // ECDSA in r‖s form: DER, which is OpenSSL's usual answer, is not a JWS signature. RSA ignores it.
  const key = { key: privateKey, dsaEncoding: 'ieee-p1363' as const };
  return { alg: jwk.alg, kid, sign: (input) => signAsync('sha256', input, key) };
}

/** Whether a client that sends this `If-None-Match` holds the document already (RFC 9110 section 13.1.2). */
export function isHeld({ etag }: JwksDocument, ifNoneMatch = ''): boolean {
  const held = ifNoneMatch.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  return held.includes(etag) || held.includes('*');
}
