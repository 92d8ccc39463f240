import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import {
  type IdentityKey,
  identityKey,
  readMultikey,
  type SigningKey,
  type VerificationKey,
  verificationKey,
} from '../features/service/keys/index.ts';
import { commaList } from './readers.ts';
import { type Context, type Reader, SettingRefusal } from './setting.ts';

const LEAST_MODULUS_BITS = 2048; // RFC 7518, section 3.3
const LEAST_EXPONENT = 65_537n; // smaller ones have practical attacks on careless verifiers

export const rsaPrivateKey: Reader<SigningKey> = {
  accepts: 'a PKCS#8 PEM of an RSA key',
  read(text, context) {
    const { name } = context;
    const key = readPrivateKey(text, context, 'an RSA private key');
    if (key.asymmetricKeyType !== 'rsa') throw wrongKind(name, kindOf(key), 'an RSA private key');
    if (hasShortModulus(key)) {
      const bits = key.asymmetricKeyDetails?.modulusLength;
      throw new SettingRefusal(`${name} must be at least ${LEAST_MODULUS_BITS} bits, found ${bits}`);
    }
    if (hasWeakExponent(key)) throw new SettingRefusal(`${name} has a weak public exponent`);
    return signingKey(key, context);
  },
};

export const hasShortModulus = ({ asymmetricKeyDetails: details }: KeyObject) =>
  (details?.modulusLength ?? 0) < LEAST_MODULUS_BITS;

export const hasWeakExponent = ({ asymmetricKeyDetails: details }: KeyObject) =>
  (details?.publicExponent ?? 0n) < LEAST_EXPONENT;

export const ecPrivateKey: Reader<SigningKey> = {
  accepts: 'a PKCS#8 PEM of an EC P-256 key',
  read(text, context) {
    const { name } = context;
    const key = readPrivateKey(text, context, 'an EC P-256 private key');
    if (key.asymmetricKeyType !== 'ec') throw wrongKind(name, kindOf(key), 'an EC P-256 private key');
    const curve = curveOf(key);
    if (curve !== 'P-256') throw new SettingRefusal(`${name} must be a P-256 key, found ${curve}`);
    return signingKey(key, context);
  },
};

export const ed25519PrivateKey: Reader<IdentityKey> = {
  accepts: 'a PKCS#8 PEM of an Ed25519 key',
  read(text, context) {
    const expected = 'an Ed25519 private key';
    const privateKey = readPrivateKey(text, context, expected);
    if (privateKey.asymmetricKeyType !== 'ed25519') {
      throw wrongKind(context.name, kindOf(privateKey), expected);
    }
    const key = identityKey(createPublicKey(privateKey), privateKey);
    refuseTestKey(key, context);
    return key;
  },
};

/** Their private halves are published as test vectors, so anybody could sign with them. */
const PUBLISHED_TEST_KEYS = new Set([
  'SaszmOe4T02EYaFnITyD8TTWBDyyOWpp3uKUi6H5K6o',
  'TZ0K0Gv44oItHlNBQqtw7lE8j7NCGy1n3xDkO0qGgWs',
  'JbpiyLHlId8o03c7X8ENhWybJJ7g_Oy7ro_0CMzFlUE',
]);

export function refuseTestKey(key: VerificationKey | IdentityKey, { isProduction }: Context): void {
  const isPublished = PUBLISHED_TEST_KEYS.has(key.thumbprint);
  if (isProduction && isPublished) throw new SettingRefusal('test key from the documentation');
}

function signingKey(privateKey: KeyObject, context: Context): SigningKey {
  const key = verificationKey(createPublicKey(privateKey));
  refuseTestKey(key, context);
  return { ...key, privateKey };
}

/** The kinds of key in PEM blocks that are no PKCS#8 private keys, by label. */
const KINDS: Readonly<Record<string, string>> = {
  'RSA PRIVATE KEY': 'an RSA private key',
  'EC PRIVATE KEY': 'an EC private key',
  'DSA PRIVATE KEY': 'a DSA private key',
  'OPENSSH PRIVATE KEY': 'an OpenSSH private key',
  'PUBLIC KEY': 'a public key',
  'RSA PUBLIC KEY': 'a public key',
  CERTIFICATE: 'a certificate',
};

/** Formats before PKCS#8 that hold the right kind of key. A single command converts them. */
const OLDER_FORMATS: Readonly<Record<string, readonly [expected: string, format: string]>> = {
  'RSA PRIVATE KEY': ['an RSA private key', 'PKCS#1'],
  'EC PRIVATE KEY': ['an EC P-256 private key', 'SEC1'],
};

/** @param expected the kind of key, as a refusal names it */
function readPrivateKey(text: string, { name }: Context, expected: string): KeyObject {
  const pem = text.replaceAll('\\n', '\n'); // environment files often cannot hold real line breaks
  const labels = [...pem.matchAll(/-----BEGIN ([A-Z0-9 ]+)-----/g)].map(([, label = '']) => label);
  for (const label of labels) {
    if (label === 'ENCRYPTED PRIVATE KEY' || pem.includes('Proc-Type: 4,ENCRYPTED')) {
      throw new SettingRefusal(`${name} must not be encrypted`);
    }
    const [whose, format] = OLDER_FORMATS[label] ?? [];
    if (whose === expected)
      throw new SettingRefusal(`${name} must be PKCS#8 (BEGIN PRIVATE KEY), found ${format}`);
    const kind = KINDS[label];
    if (kind) throw wrongKind(name, kind, expected);
  }
  const unreadable = new SettingRefusal(`${name} is not a valid PKCS#8 PEM`);
  if (labels.length !== 1) throw unreadable;
  try {
    return createPrivateKey(pem);
  } catch {
    throw unreadable; // OpenSSL's own message helps nobody, and might repeat a part of the key
  }
}

const wrongKind = (name: string, kind: string, expected: string) =>
  new SettingRefusal(`${name} holds ${kind}, expected ${expected}`);

function kindOf(key: KeyObject): string {
  const kinds: Record<string, string> = {
    rsa: 'an RSA private key',
    'rsa-pss': 'an RSA-PSS private key',
    ec: 'an EC private key',
    ed25519: 'an Ed25519 private key',
  };
  const type = key.asymmetricKeyType ?? 'unknown';
  return kinds[type] ?? `a private key of type ${type}`;
}

/** The curve's name in RFC 7518, or Node's name for a curve outside it. */
function curveOf(key: KeyObject): string {
  const names: Record<string, string> = { prime256v1: 'P-256', secp384r1: 'P-384', secp521r1: 'P-521' };
  const curve = key.asymmetricKeyDetails?.namedCurve ?? 'unknown';
  return names[curve] ?? curve;
}

/** Public Ed25519 keys in the form of DID documents. @see https://www.w3.org/TR/cid-1.0/#Multikey */
export const multikeys = commaList('a comma list of Ed25519 Multikeys (z6Mk…)', (entry) =>
  readMultikey(entry)?.kind === 'Ed25519' ? entry : undefined,
);
