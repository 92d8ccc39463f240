import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { EC_KEY_ID, ec, RSA_KEY_ID, rsa } from '../test/signing.ts';
import { isLegacyKeyId, keyIdOf, legacyKeyIds, thumbprintText } from './key-id.ts';
import { keySetOf } from './key-set.ts';

const key = (kid: unknown, n = 'AQAB') => ({ kty: 'RSA', kid, use: 'sig', alg: 'RS256', n, e: 'AQAB' });

describe('a JWK Set', () => {
  test('is read into a map by key id', () => {
    const { byId } = keySetOf({ keys: [key('a'), key('b')], more: 1 });

    expect([...byId.keys()]).toEqual(['a', 'b']);
    expect(byId.get('a')).toEqual(key('a'));
  });

  test('J5: knows nothing by the names that objects inherit', () => {
    const { byId } = keySetOf({ keys: [key('a')] });

    for (const kid of ['__proto__', 'constructor', 'toString']) expect(byId.get(kid)).toBeUndefined();
  });

  test('takes the newest month for the legacy key, wherever it stands', () => {
    const keys = [
      key('service-2025-12'),
      key('service-2026-02'),
      key('service-2026-13'),
      key('z'),
      key('service-2026-01'),
    ];

    expect(keySetOf({ keys }).legacy?.kid).toBe('service-2026-02');
    expect(keySetOf({ keys: [key('a')] }).legacy).toBeUndefined();
  });

  test('keeps a key listed twice, and neither of two that share an id', () => {
    const { byId } = keySetOf({ keys: [key('a'), key('a'), key('b', 'x'), key('b', 'y'), key('b', 'x')] });

    expect([...byId.keys()]).toEqual(['a']);
  });

  test('leaves out what no token can name', () => {
    expect(keySetOf({ keys: [null, 7, [], {}, key(undefined), key(5), key('a')] }).byId.size).toBe(1);
  });

  test.each([undefined, null, [], {}, { keys: {} }, { keys: null }, 'keys'])('is not %j', (jwks) => {
    expect(() => keySetOf(jwks)).toThrow(TypeError);
  });
});

const sha256 = (text: string) => createHash('sha256').update(text).digest('base64url');

test('keys are named by their thumbprints, as documented', () => {
  const { n = '', e = '' } = rsa.publicKey.export({ format: 'jwk' });
  const { x = '', y = '' } = ec.publicKey.export({ format: 'jwk' });

  expect(keyIdOf({ kty: 'RSA', n, e }, sha256)).toBe(RSA_KEY_ID);
  expect(keyIdOf({ kty: 'EC', crv: 'P-256', x, y }, sha256)).toBe(EC_KEY_ID);
  expect(
    keyIdOf({ kty: 'OKP', crv: 'Ed25519', x: 'mUeWLgBe9crq7-RGDbEbjgm1HVTy88HDnFCYjkZDkGs' }, sha256),
  ).toBe('service-ed25519-JbpiyLHlId8o03c7X8ENhWybJJ7g_Oy7ro_0CMzFlUE');
});

test('the text that is hashed has the required members, in order and without white space', () => {
  expect(
    thumbprintText({ alg: 'ES256', y: 'b', x: 'a', use: 'sig', kid: 'c', crv: 'P-256', kty: 'EC' }),
  ).toBe('{"crv":"P-256","kty":"EC","x":"a","y":"b"}');
});

test('RFC 7638, section 3.1: the example has its thumbprint', () => {
  const n =
    '0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3oknjhMs' +
    'tn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5haj' +
    'rn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw';

  expect(sha256(thumbprintText({ kty: 'RSA', n, e: 'AQAB' }))).toBe(
    'NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs',
  );
});

test('the legacy key has the ids of this month and of those before, in UTC', () => {
  expect(legacyKeyIds(new Date('2026-01-31T23:59:59Z'), 3)).toEqual([
    'service-2026-01',
    'service-2025-12',
    'service-2025-11',
  ]);
  expect(legacyKeyIds(new Date('2026-02-01T00:00:00Z'), 3)[0]).toBe('service-2026-02');
  expect(legacyKeyIds(new Date('2026-03-31T12:00:00Z'), 2)).toEqual(['service-2026-03', 'service-2026-02']);

  const year = legacyKeyIds(new Date('2026-11-21T10:00:00Z'), 13);
  expect([year.length, year.at(0), year.at(-1)]).toEqual([13, 'service-2026-11', 'service-2025-11']);
});

test.each(['service-2026-01', 'service-0000-12'])('%s is of the legacy form', (keyId) => {
  expect(isLegacyKeyId(keyId)).toBe(true);
});

test.each([
  'service-2026-00',
  'service-2026-13',
  'service-2026-1',
  'Service-2026-01',
  'service-2026-01\n',
  'service-٢٠٢٦-01',
  '',
])('%j is not', (keyId) => {
  expect(isLegacyKeyId(keyId)).toBe(false);
});
