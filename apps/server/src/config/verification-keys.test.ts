import { generateKeyPairSync, type JsonWebKey } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { loadConfig } from '../config.ts';
import { verificationKey } from '../features/service/keys/index.ts';
import vectors from '../features/service/keys/keys.vectors.json' with { type: 'json' };
import { development, problemsOf, production, refusalsOf } from './test/environment.ts';

const rsa = (bits: number, publicExponent = 65_537) =>
  generateKeyPairSync('rsa', { modulusLength: bits, publicExponent });
const formerPair = rsa(2048);
const former = formerPair.publicKey.export({ format: 'jwk' });
const formerThumbprint = verificationKey(formerPair.publicKey).thumbprint;
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'jwk' });
const p384 = generateKeyPairSync('ec', { namedCurve: 'P-384' }).publicKey.export({ format: 'jwk' });
const ed25519 = generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' });
const ownKid = `service-rs256-${vectors.rsa.thumbprint}`;

type Members = JsonWebKey & { readonly [member: string]: unknown };
const withKeys = (...entries: unknown[]) => ({
  ...development,
  JWT_VERIFICATION_PUBLIC_KEYS: JSON.stringify({ keys: entries }),
});
const keysOf = (...entries: unknown[]) => loadConfig(withKeys(...entries)).keys.verificationKeys;
const kidsOf = (...entries: unknown[]) => keysOf(...entries).map(({ jwk }) => jwk.kid);

describe('J12: JWT_VERIFICATION_PUBLIC_KEYS', () => {
  test('takes a JWK Set, and its array alone', () => {
    const env = { ...development, JWT_VERIFICATION_PUBLIC_KEYS: JSON.stringify([former, ec]) };

    expect(loadConfig(env).keys.verificationKeys).toEqual(keysOf(former, ec));
    expect(keysOf(former, ec).map(({ jwk }) => jwk.alg)).toEqual(['RS256', 'ES256']);
  });

  test('names a key without id by its thumbprint, and publishes no member it does not know', () => {
    const [key] = keysOf({ ...former, use: 'sig', key_ops: ['verify'], x5t: 'x', alg: 'RS256' });

    const kid = `service-rs256-${formerThumbprint}`;
    expect(key?.jwk).toEqual({ kty: 'RSA', kid, use: 'sig', alg: 'RS256', n: former.n, e: former.e });
  });

  test('keeps the key ids of other issuers', () => {
    expect(kidsOf({ ...former, kid: 'theirs 1' }, { ...ec, kid: 'x'.repeat(256) })).toEqual([
      'theirs 1',
      'x'.repeat(256),
    ]);
  });

  test('holds a key that is listed twice once, and leaves out own keys', () => {
    const { rsa: own } = loadConfig(development).keys;

    expect(kidsOf({ ...former, kid: 'a' }, { ...former, kid: 'a' }, own?.jwk)).toEqual(['a']);
    expect(kidsOf({ ...former, kid: 'a' }, { ...former, kid: 'b' })).toEqual(['a', 'b']);
  });

  test.each<[string, unknown, string]>([
    ['no object', 'text', 'must be a JWK object'],
    ['null', null, 'must be a JWK object'],
    ['an array', [former], 'must be a JWK object'],
    ...['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'].map((member): [string, unknown, string] => [
      `private member ${member}`,
      { ...former, [member]: 'AQAB' },
      `contains private member "${member}"`,
    ]),
    ['PS256', { ...former, alg: 'PS256' }, 'unsupported alg "PS256"'],
    ['RS512', { ...former, alg: 'RS512' }, 'unsupported alg "RS512"'],
    ['HS256', { ...former, alg: 'HS256' }, 'unsupported alg "HS256"'],
    ['none', { ...former, alg: 'none' }, 'unsupported alg "none"'],
    ['ES256 with RSA', { ...former, alg: 'ES256' }, 'unsupported alg "ES256"'],
    ['RS256 with EC', { ...ec, alg: 'RS256' }, 'unsupported alg "RS256"'],
    ['ES384', { ...p384, alg: 'ES384' }, 'unsupported alg "ES384"'],
    ['a symmetric key', { kty: 'oct', alg: 'HS256' }, 'unsupported alg "HS256"'],
    ['an OKP key', ed25519, 'unsupported alg "OKP"'],
    ['no kty', {}, 'unsupported alg "none"'],
    ['P-384', p384, 'must be P-256'],
    ['a point off the curve', { ...ec, y: ec.x }, 'must be P-256'],
    ['no point', { kty: 'EC', crv: 'P-256' }, 'must be P-256'],
    ['1024 bits', rsa(1024).publicKey.export({ format: 'jwk' }), 'must be at least 2048 bits'],
    ['no modulus', { kty: 'RSA', e: 'AQAB' }, 'must be at least 2048 bits'],
    ['exponent 3', rsa(2048, 3).publicKey.export({ format: 'jwk' }), 'has a weak public exponent'],
    ['exponent 1', { ...former, e: 'AQ' }, 'has a weak public exponent'],
    ['a key to encrypt with', { ...former, use: 'enc' }, 'use must be sig'],
    ['a key to sign with', { ...former, key_ops: ['sign'] }, 'use must be sig'],
    ['an empty kid', { ...former, kid: '' }, 'kid is invalid'],
    ['a long kid', { ...former, kid: 'x'.repeat(257) }, 'kid is invalid'],
    ['a kid of other letters', { ...former, kid: 'clé' }, 'kid is invalid'],
    ['a kid that is no text', { ...former, kid: 7 }, 'kid is invalid'],
    ['a legacy kid', { ...former, kid: 'service-2026-01' }, 'kid has the reserved legacy form'],
    ['the kid of an own key', { ...former, kid: ownKid }, 'kid is already used by another key'],
    ['the kid of nobody', { ...former, kid: 'service-rs256-x' }, 'kid does not match the key thumbprint'],
    ['the kid of the other kind', { ...ec, kid: 'service-rs256-x' }, 'kid does not match the key thumbprint'],
  ])('refuses %s', (_, entry, refusal) => {
    const setting = 'JWT_VERIFICATION_PUBLIC_KEYS';

    expect(problemsOf(withKeys(ec, entry))).toEqual([{ setting, message: `${setting}[1]: ${refusal}` }]);
  });

  test('takes an id of almost the legacy form', () => {
    expect(kidsOf({ ...former, kid: 'service-2026-13' })).toEqual(['service-2026-13']);
  });

  test('refuses one id for two keys, and names every bad entry', () => {
    const entries: Members[] = [{ ...former, kid: 'a' }, { ...ec, kid: 'a' }, p384];

    expect(refusalsOf(withKeys(...entries))).toEqual([
      'JWT_VERIFICATION_PUBLIC_KEYS[1]: kid is already used by another key',
      'JWT_VERIFICATION_PUBLIC_KEYS[2]: must be P-256',
    ]);
  });

  test.each([
    ['{"keys":', 'is not valid JSON'],
    ['{}', 'must be a JWK Set or an array of 1 to 32 JWKs'],
    ['[]', 'must be a JWK Set or an array of 1 to 32 JWKs'],
    ['null', 'must be a JWK Set or an array of 1 to 32 JWKs'],
    [JSON.stringify(Array(33).fill(ec)), 'must be a JWK Set or an array of 1 to 32 JWKs'],
  ])('refuses %s', (text, refusal) => {
    expect(refusalsOf({ ...development, JWT_VERIFICATION_PUBLIC_KEYS: text })).toEqual([
      `JWT_VERIFICATION_PUBLIC_KEYS ${refusal}`,
    ]);
  });

  test('may not hold a published test key in production, because anybody has its private half', () => {
    const published = loadConfig(development).keys.rsa?.jwk;
    const keys = { JWT_VERIFICATION_PUBLIC_KEYS: JSON.stringify([published]) };

    expect(refusalsOf({ ...production, ...keys })).toEqual([
      'JWT_VERIFICATION_PUBLIC_KEYS[0]: test key from the documentation',
    ]);
  });
});

describe('JWT_LEGACY_KID_KEY', () => {
  test('names an RSA key by its id or its thumbprint', () => {
    const legacy = (name: string) =>
      loadConfig({ ...withKeys(former), JWT_LEGACY_KID_KEY: name }).keys.legacyKey;

    for (const thumbprint of [formerThumbprint, vectors.rsa.thumbprint]) {
      expect(legacy(thumbprint)?.thumbprint).toBe(thumbprint);
      expect(legacy(`service-rs256-${thumbprint}`)?.thumbprint).toBe(thumbprint);
    }
  });

  test.each([
    vectors.ec.thumbprint,
    `service-es256-${vectors.ec.thumbprint}`,
    'x',
    'service-2026-01',
    formerThumbprint,
  ])('refuses %s, which is no RSA key here', (name) => {
    const env = { ...development, EC_PRIVATE_KEY: vectors.ec.privateKey, JWT_LEGACY_KID_KEY: name };

    expect(problemsOf(env)).toEqual([
      { setting: 'JWT_LEGACY_KID_KEY', message: 'JWT_LEGACY_KID_KEY names no configured RSA key' },
    ]);
  });

  test('is not refused because of a key that was refused itself', () => {
    const env = { ...withKeys({ ...former, kid: '' }), JWT_LEGACY_KID_KEY: formerThumbprint };

    expect(refusalsOf(env)).toEqual(['JWT_VERIFICATION_PUBLIC_KEYS[0]: kid is invalid']);
  });
});
