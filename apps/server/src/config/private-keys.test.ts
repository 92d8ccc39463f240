import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { loadConfig } from '../config.ts';
import vectors from '../features/service/keys/keys.vectors.json' with { type: 'json' };
import { development, problemsOf, production, refusalsOf } from './test/environment.ts';

const pkcs8 = (key: KeyObject) => key.export({ type: 'pkcs8', format: 'pem' }).toString();
const rsa = (bits: number) => generateKeyPairSync('rsa', { modulusLength: bits });
const ec = (namedCurve: string) => generateKeyPairSync('ec', { namedCurve });
const own = rsa(2048);
const p256 = ec('P-256');
const p384 = ec('P-384');
const ed25519 = generateKeyPairSync('ed25519');

const encrypted = own.privateKey
  .export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' })
  .toString();
const pkcs1 = own.privateKey.export({ type: 'pkcs1', format: 'pem' }).toString();
const encryptedPkcs1 = own.privateKey
  .export({ type: 'pkcs1', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' })
  .toString();
const sec1 = p256.privateKey.export({ type: 'sec1', format: 'pem' }).toString();
const publicPem = own.publicKey.export({ type: 'spki', format: 'pem' }).toString();
const block = (label: string) => `-----BEGIN ${label}-----\nAAAA\n-----END ${label}-----`;

describe('J12: RSA_PRIVATE_KEY', () => {
  const weak = generateKeyPairSync('rsa', { modulusLength: 2048, publicExponent: 3 });
  const pss = generateKeyPairSync('rsa-pss', { modulusLength: 2048 });

  test.each([
    ['nothing', '', 'RSA_PRIVATE_KEY is required (or AUTO_GENERATE_KEYS=true for development)'],
    ['PKCS#1', pkcs1, 'RSA_PRIVATE_KEY must be PKCS#8 (BEGIN PRIVATE KEY), found PKCS#1'],
    ['an encrypted key', encrypted, 'RSA_PRIVATE_KEY must not be encrypted'],
    ['an encrypted PKCS#1 key', encryptedPkcs1, 'RSA_PRIVATE_KEY must not be encrypted'],
    ['1024 bits', pkcs8(rsa(1024).privateKey), 'RSA_PRIVATE_KEY must be at least 2048 bits, found 1024'],
    ['2047 bits', pkcs8(rsa(2047).privateKey), 'RSA_PRIVATE_KEY must be at least 2048 bits, found 2047'],
    ['exponent 3', pkcs8(weak.privateKey), 'RSA_PRIVATE_KEY has a weak public exponent'],
    ['EC', pkcs8(p256.privateKey), 'RSA_PRIVATE_KEY holds an EC private key, expected an RSA private key'],
    ['SEC1', sec1, 'RSA_PRIVATE_KEY holds an EC private key, expected an RSA private key'],
    [
      'RSA-PSS',
      pkcs8(pss.privateKey),
      'RSA_PRIVATE_KEY holds an RSA-PSS private key, expected an RSA private key',
    ],
    [
      'Ed25519',
      pkcs8(ed25519.privateKey),
      'RSA_PRIVATE_KEY holds an Ed25519 private key, expected an RSA private key',
    ],
    [
      'X25519',
      pkcs8(generateKeyPairSync('x25519').privateKey),
      'RSA_PRIVATE_KEY holds a private key of type x25519, expected an RSA private key',
    ],
    ['a public key', publicPem, 'RSA_PRIVATE_KEY holds a public key, expected an RSA private key'],
    [
      'a certificate',
      block('CERTIFICATE'),
      'RSA_PRIVATE_KEY holds a certificate, expected an RSA private key',
    ],
    ['a broken PEM', block('PRIVATE KEY'), 'RSA_PRIVATE_KEY is not a valid PKCS#8 PEM'],
    ['no PEM', 'secret', 'RSA_PRIVATE_KEY is not a valid PKCS#8 PEM'],
    ['two keys', pkcs8(own.privateKey).repeat(2), 'RSA_PRIVATE_KEY is not a valid PKCS#8 PEM'],
    ['half a PEM', pkcs8(own.privateKey).slice(0, 200), 'RSA_PRIVATE_KEY is not a valid PKCS#8 PEM'],
  ])('refuses %s', (_, pem, message) => {
    expect(problemsOf({ ...development, RSA_PRIVATE_KEY: pem })).toEqual([
      { setting: 'RSA_PRIVATE_KEY', message },
    ]);
  });

  test('may be absent where keys are generated', () => {
    const { keys } = loadConfig({ ...development, RSA_PRIVATE_KEY: '', AUTO_GENERATE_KEYS: 'true' });

    expect(keys).toMatchObject({ rsa: undefined, generatesMissing: true });
  });

  test('is the same key with line breaks written as \\n', () => {
    const escaped = vectors.rsa.privateKey.replaceAll('\n', '\\n');

    const { rsa: key } = loadConfig({ ...development, RSA_PRIVATE_KEY: escaped }).keys;
    expect(key?.thumbprint).toBe(vectors.rsa.thumbprint);
    expect(key?.jwk.kid).toBe(`service-rs256-${vectors.rsa.thumbprint}`);
  });

  test('may not be the published test key in production', () => {
    const env = { ...production, RSA_PRIVATE_KEY: vectors.rsa.privateKey };

    expect(problemsOf(env)).toEqual([
      { setting: 'RSA_PRIVATE_KEY', message: 'test key from the documentation' },
    ]);
  });
});

describe('J12: EC_PRIVATE_KEY', () => {
  test.each([
    ['P-384', pkcs8(p384.privateKey), 'EC_PRIVATE_KEY must be a P-256 key, found P-384'],
    ['P-521', pkcs8(ec('P-521').privateKey), 'EC_PRIVATE_KEY must be a P-256 key, found P-521'],
    ['secp256k1', pkcs8(ec('secp256k1').privateKey), 'EC_PRIVATE_KEY must be a P-256 key, found secp256k1'],
    ['SEC1', sec1, 'EC_PRIVATE_KEY must be PKCS#8 (BEGIN PRIVATE KEY), found SEC1'],
    [
      'SEC1 with its parameters',
      block('EC PARAMETERS') + sec1,
      'EC_PRIVATE_KEY must be PKCS#8 (BEGIN PRIVATE KEY), found SEC1',
    ],
    [
      'RSA',
      pkcs8(own.privateKey),
      'EC_PRIVATE_KEY holds an RSA private key, expected an EC P-256 private key',
    ],
    ['PKCS#1', pkcs1, 'EC_PRIVATE_KEY holds an RSA private key, expected an EC P-256 private key'],
    [
      'Ed25519',
      pkcs8(ed25519.privateKey),
      'EC_PRIVATE_KEY holds an Ed25519 private key, expected an EC P-256 private key',
    ],
    ['a public key', publicPem, 'EC_PRIVATE_KEY holds a public key, expected an EC P-256 private key'],
    ['an encrypted key', encrypted, 'EC_PRIVATE_KEY must not be encrypted'],
    ['no PEM', 'secret', 'EC_PRIVATE_KEY is not a valid PKCS#8 PEM'],
  ])('refuses %s', (_, pem, message) => {
    expect(problemsOf({ ...development, EC_PRIVATE_KEY: pem })).toEqual([
      { setting: 'EC_PRIVATE_KEY', message },
    ]);
  });

  test('is named by its thumbprint', () => {
    const { ec: key } = loadConfig({ ...development, EC_PRIVATE_KEY: vectors.ec.privateKey }).keys;

    expect(key?.jwk.kid).toBe(`service-es256-${vectors.ec.thumbprint}`);
  });

  test('is needed to sign with ES256, unless it may be generated', () => {
    const env = { ...development, JWT_SIGNING_ALG: 'ES256' };

    expect(problemsOf(env)).toEqual([
      { setting: 'JWT_SIGNING_ALG', message: 'JWT_SIGNING_ALG=ES256 requires EC_PRIVATE_KEY' },
    ]);
    expect(problemsOf({ ...env, AUTO_GENERATE_KEYS: 'true' })).toEqual([]);
    expect(problemsOf({ ...env, EC_PRIVATE_KEY: vectors.ec.privateKey })).toEqual([]);
    expect(refusalsOf({ ...env, EC_PRIVATE_KEY: 'x' })).toEqual(['EC_PRIVATE_KEY is not a valid PKCS#8 PEM']);
  });

  test('may not be the published test key in production', () => {
    expect(refusalsOf({ ...production, EC_PRIVATE_KEY: vectors.ec.privateKey })).toEqual([
      'test key from the documentation',
    ]);
  });
});

describe('ED25519_PRIVATE_KEY', () => {
  test.each([
    ['RSA', pkcs8(own.privateKey), 'holds an RSA private key, expected an Ed25519 private key'],
    ['PKCS#1', pkcs1, 'holds an RSA private key, expected an Ed25519 private key'],
    ['EC', pkcs8(p256.privateKey), 'holds an EC private key, expected an Ed25519 private key'],
    [
      'Ed448',
      pkcs8(generateKeyPairSync('ed448').privateKey),
      'holds a private key of type ed448, expected an Ed25519 private key',
    ],
    ['a public key', publicPem, 'holds a public key, expected an Ed25519 private key'],
    ['a certificate', block('CERTIFICATE'), 'holds a certificate, expected an Ed25519 private key'],
    ['an encrypted key', encrypted, 'must not be encrypted'],
    ['no PEM', 'secret', 'is not a valid PKCS#8 PEM'],
  ])('refuses %s', (_, pem, refusal) => {
    expect(problemsOf({ ...development, ED25519_PRIVATE_KEY: pem })).toEqual([
      { setting: 'ED25519_PRIVATE_KEY', message: `ED25519_PRIVATE_KEY ${refusal}` },
    ]);
  });

  test('is named by its thumbprint', () => {
    const env = { ...development, ED25519_PRIVATE_KEY: vectors.ed25519.privateKey };

    const { ed25519: key } = loadConfig(env).keys;
    expect(key?.jwk.kid).toBe(`service-ed25519-${vectors.ed25519.thumbprint}`);
  });

  test('may not be the published test key in production', () => {
    const env = { ...production, ED25519_PRIVATE_KEY: vectors.ed25519.privateKey };

    expect(refusalsOf(env)).toEqual(['test key from the documentation']);
  });
});

describe('VAULT_ENCRYPTION_KEY', () => {
  const bytes = Buffer.alloc(32, 0xfb);
  const [hex, base64, base64url] = [
    bytes.toString('hex'),
    bytes.toString('base64'),
    bytes.toString('base64url'),
  ];

  test.each([hex, hex.toUpperCase(), base64, base64url, `${base64url}=`])('takes %s', (text) => {
    const { vaultKey } = loadConfig({ ...development, VAULT_ENCRYPTION_KEY: text }).keys;

    expect(vaultKey?.export()).toEqual(bytes);
  });

  test.each([hex.slice(1), `${hex}0`, base64.slice(1), `${base64}AAAA`, `${base64url}!`, 'x'.repeat(32)])(
    'refuses %s',
    (text) => {
      expect(refusalsOf({ ...development, VAULT_ENCRYPTION_KEY: text })).toEqual([
        'VAULT_ENCRYPTION_KEY must be 32 bytes as 64 hex or 44 base64 characters',
      ]);
    },
  );

  test('may have former ones, each once', () => {
    const other = '0'.repeat(64);
    const withFormer = (text: string) => ({
      ...development,
      VAULT_ENCRYPTION_KEY: hex,
      VAULT_ENCRYPTION_KEYS_PREVIOUS: text,
    });

    expect(loadConfig(withFormer(`${other}, ${'1'.repeat(64)}`)).keys.previousVaultKeys).toHaveLength(2);
    expect(refusalsOf(withFormer(`${other},x,${other},`))).toEqual([
      'VAULT_ENCRYPTION_KEYS_PREVIOUS[1] must be 32 bytes as 64 hex or 44 base64 characters',
      'VAULT_ENCRYPTION_KEYS_PREVIOUS[3] must be 32 bytes as 64 hex or 44 base64 characters',
    ]);
    for (const repeated of [base64, `${other},${other}`]) {
      expect(refusalsOf(withFormer(repeated))).toEqual([
        'VAULT_ENCRYPTION_KEYS_PREVIOUS must hold each key once, and not VAULT_ENCRYPTION_KEY',
      ]);
    }
  });
});
