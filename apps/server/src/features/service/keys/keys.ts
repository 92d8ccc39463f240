import { createHash, generateKeyPair, type KeyObject, sign } from 'node:crypto';
import { promisify } from 'node:util';
import { asciiJson } from '@behest/protocol/ascii-json';
import { legacyKeyIds } from '@behest/protocol/key-id';
import type { KeySet } from '@behest/protocol/key-set';
import type { Clock } from '../../../platform/clock.ts';
import type { MasterKeys } from '../../../platform/envelope.ts';
import { AppError } from '../../../platform/errors.ts';
import { type Finished, finished } from '../../../platform/finished.ts';
import { type DerivedKeys, type DerivedKeyUse, deriveKeys } from './derivation.rules.ts';
import type { ServiceIdentity } from './did.rules.ts';
import {
  type IdentityKey,
  identityKey,
  jwkSet,
  type KeySettings,
  type SigningAlg,
  type SigningKey,
  type VerifierKey,
} from './keys.rules.ts';
import { newSigningKey } from './seal.ts';
import { configuredKeys, type KeysInUse, type SigningUse } from './stored.rules.ts';
import { createStoredKeys, type StoredKeys } from './stored.ts';

/** The id follows from the key, so that every instance names it alike and no operator has to. */
const vaultKeyId = (key: KeyObject): string =>
  createHash('sha256').update('behest-vault-kid:').update(key.export()).digest('hex').slice(0, 16);

/** The vault keys by their ids. */
function vaultKeys(current: KeyObject | undefined, previous: readonly KeyObject[]) {
  const all = [...(current ? [current] : []), ...previous].map((key) => ({ id: vaultKeyId(key), key }));
  const byId = new Map(all.map(({ id, key }) => [id, key]));
  return {
    current: current && all[0],
    find: (id: string) => byId.get(id),
    ids: all.map(({ id }) => id),
  };
}

/** Every key of the process: the current signing key, the verification keys and the secret keys. */
export interface KeyRing {
  /**
   * The key for one token. Ask for each token, because the key changes while the service runs.
   * @throws SERVICE_UNAVAILABLE when the process has not read the keys of the database for too long
   */
  signer(): Signer;
  /** The same among the RSA keys, for tokens whose standard asks for RS256. @throws as `signer` */
  rsaSigner(): Signer;
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
  /** The keys of the database, with `SIGNING_KEY_STORE=postgres` alone. */
  readonly stored: StoredKeys | undefined;
}

export interface Signer {
  readonly alg: SigningAlg;
  readonly kid: string;
  /** The id by the key's own numbers, which `kid` is not while it names the month. */
  readonly keyId: string;
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
/** An instance may learn of a published key so much later than the one that published it. */
const MAX_SECONDS_UNREAD = 30;

/** Generates missing keys when the settings allow it. */
export async function createKeyRing(settings: KeySettings, deps: KeyRingDeps): Promise<KeyRing> {
  const { rsa, ec, ed25519 } = await ownKeys(settings, deps.warn);
  const { activationDelaySeconds, verificationKeys: others, signingAlg: signsAs } = settings;
  const legacyKey = settings.legacyKey ?? rsa;
  if (legacyKey.thumbprint !== rsa.thumbprint) deps.warn(LEGACY_KEY_IS_PUBLIC_ONLY);
  if (!settings.vaultKey && !settings.generatesMissing) deps.warn(NO_VAULT_KEY);

  const vault = vaultKeys(settings.vaultKey, settings.previousVaultKeys);
  const stored = settings.store && createStoredKeys(settings, { ...settings.store, own: { rsa, ec } });
  const activeAt = deps.startedAt.getTime() + activationDelaySeconds * 1000;
  const keysAt = stored?.at ?? configuredKeys({ rsa, ec, others, legacyKey, signsAs, activeAt });
  const freshSeconds = activationDelaySeconds - (stored ? MAX_SECONDS_UNREAD : 0);
  const maxAgeSeconds = Math.min(JWKS_MAX_AGE_SECONDS, Math.max(0, freshSeconds));
  const [signerOf, rsaSignerOf] = [signers(), signers()];
  const mustSign = (signing: SigningUse | undefined): SigningUse => {
    if (signing) return signing;
    throw new AppError('SERVICE_UNAVAILABLE', 'No signing key can be used now. Try again later.', {
      dependency: 'db',
    });
  };
  const derived = new Map<DerivedKeyUse, DerivedKeys>(); // a derivation exports every source, and a refresh asks for one
  let published: { month: number; keys: KeysInUse['keys']; document: JwksDocument } | undefined;

  return {
    signer() {
      const now = deps.clock();
      return signerOf(mustSign(keysAt(now).signing), now);
    },
    rsaSigner() {
      const now = deps.clock();
      return rsaSignerOf(mustSign(keysAt(now).rsa), now);
    },
    verificationKeys: () => keysAt(deps.clock()).keys,
    jwks() {
      const now = deps.clock();
      const { keys, published: all, legacyKey: legacy } = keysAt(now);
      const month = now.getUTCFullYear() * 12 + now.getUTCMonth(); // the legacy ids name months
      if (published?.month !== month || published.keys !== keys) {
        const set = jwkSet(all, legacy, legacyKeyIds(now, settings.legacyMonths));
        published = { month, keys, document: { ...finished(JSON.stringify(set)), maxAgeSeconds } };
      }
      return published.document;
    },
    identity() {
      const { named, signing } = keysAt(deps.clock());
      return {
        keys: named,
        signingKid: signing?.key.jwk.kid,
        ed25519: ed25519?.jwk,
        former: settings.formerIdentities,
      };
    },
    signAsIdentity: ed25519 && ((input) => sign(null, input, ed25519.privateKey)),
    vault,
    stored,
    derive(use) {
      if (!deps.uses.includes(use)) throw new Error(`No feature declares the key use ${use}.`);
      const keys = derived.get(use) ?? deriveKeys(use, { ...settings, rsaKey: rsa.privateKey });
      derived.set(use, keys);
      return keys;
    },
  };
}

/** Makes the signer of a key once, unless it names the month. */
function signers() {
  let made: { signing: SigningUse; signer: Signer } | undefined;
  return (signing: SigningUse, now: Date): Signer => {
    if (signing.isLegacy) return signerWith(signing.key, legacyKeyId(now));
    if (made?.signing !== signing) made = { signing, signer: signerWith(signing.key) };
    return made.signer;
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
  const mayLackEc = generatesMissing || settings.store !== undefined; // the database may have an EC key
  const lacksEd25519 = !settings.ed25519 && generatesMissing;
  if ((!generatesMissing && lacksRsa) || (!mayLackEc && lacksEc))
    throw new Error('A signing key is missing.');
  if (generatesMissing && (lacksRsa || lacksEc || lacksEd25519))
    warn('ephemeral keys: tokens and stored credentials do not survive a restart');

  const rsa = settings.rsa ?? (await newSigningKey('RS256'));
  const ec = lacksEc && generatesMissing ? await newSigningKey('ES256') : settings.ec;
  const ed25519 = lacksEd25519 ? await newIdentityKey() : settings.ed25519;
  return { rsa, ec, ed25519 };
}

async function newIdentityKey(): Promise<IdentityKey> {
  const { publicKey, privateKey } = await promisify(generateKeyPair)('ed25519');
  return identityKey(publicKey, privateKey);
}

const signAsync = promisify(sign);

function signerWith({ jwk, privateKey }: SigningKey, kid = jwk.kid): Signer {
  // JWS wants ECDSA signatures as r‖s, and OpenSSL makes DER by default. RSA has no such option, and Node would take a
  // third longer to begin a signature with one.
  const key = jwk.alg === 'ES256' ? { key: privateKey, dsaEncoding: 'ieee-p1363' as const } : privateKey;
  return { alg: jwk.alg, kid, keyId: jwk.kid, sign: (input) => signAsync('sha256', input, key) };
}

/**
 * Signs claims with the current signing key.
 * @param typ the header parameter that keeps one kind of token from passing for another (RFC 8725, section
 * 3.11)
 * @param content the type of the content, of a kind that names it
 * @returns a compact JWS (RFC 7515, section 3.1) in ASCII
 */
export async function signToken(
  keyRing: KeyRing,
  typ: string,
  claims: object,
  content?: { readonly cty: 'vc' },
): Promise<string> {
  return signWith(keyRing.signer(), { typ, ...content }, claims);
}

/**
 * Signs a statement that outlasts every token. Its `kid` never names a month, since readers have the DID document, which
 * names no months, and the key set stops to name them after a year.
 */
export function signStatement(keyRing: KeyRing, typ: string, claims: object): Promise<string> {
  const { keyId: kid, ...signer } = keyRing.signer();
  return signWith({ ...signer, kid }, { typ }, claims);
}

/** Signs the claims of a security event token (RFC 8417), which is RS256 whatever signs other tokens. */
export const signSet = (keyRing: KeyRing, claims: object): Promise<string> =>
  signWith(keyRing.rsaSigner(), { typ: 'secevent+jwt' }, claims);

async function signWith(
  { alg, kid, sign }: Omit<Signer, 'keyId'>,
  header: object,
  claims: object,
): Promise<string> {
  const signed = `${encoded({ alg, kid, ...header })}.${encoded(claims)}`;
  return `${signed}.${(await sign(Buffer.from(signed))).toString('base64url')}`;
}

/**
 * Signs a text that stands elsewhere (RFC 7515, appendix F).
 * @returns a compact JWS whose payload is left out
 */
export async function signDetached(keyRing: KeyRing, typ: string, text: string) {
  const { alg, kid, sign } = keyRing.signer();
  const header = encoded({ alg, kid, typ });
  const signed = `${header}.${Buffer.from(text).toString('base64url')}`;
  const signature = (await sign(Buffer.from(signed))).toString('base64url');
  return { alg, kid, signature: `${header}..${signature}` };
}

const encoded = (value: object) => Buffer.from(asciiJson(value)).toString('base64url');
