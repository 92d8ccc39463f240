import { Type } from 'typebox';
import Value from 'typebox/value';
import { describe, expect, test } from 'vitest';
import { ec, rsa } from '../test/signing.ts';
import {
  Audience,
  Duration,
  Id,
  nameOf,
  PrincipalId,
  PublicJwk,
  pageQuery,
  recordOf,
  ScopeList,
  textOf,
} from './shapes.ts';

describe('texts that are shown', () => {
  test.each(['Ada’s agent', 'Café', '日本', 'عربي', '🙂', ' '])('%j is a name and a text', (text) => {
    expect(Value.Check(nameOf(40), text)).toBe(true);
    expect(Value.Check(textOf(40), text)).toBe(true);
  });

  test.each(['\0', '\t', '\r', '\u001b', '\u007f', '\u0085', '\u202e', '\u2066', '\u2069'])(
    '%j is in neither',
    (control) => {
      expect(Value.Check(nameOf(40), `a${control}b`)).toBe(false);
      expect(Value.Check(textOf(40), `a${control}b`)).toBe(false);
    },
  );

  test('a text may have several lines, a name has one and is not empty', () => {
    expect(Value.Check(textOf(40), 'a\nb')).toBe(true);
    expect(Value.Check(textOf(40), '')).toBe(true);
    expect(Value.Check(nameOf(40), 'a\nb')).toBe(false);
    expect(Value.Check(nameOf(40), 'a\n')).toBe(false);
    expect(Value.Check(nameOf(40), '')).toBe(false);
  });

  test('neither is longer than it may be', () => {
    expect(Value.Check(nameOf(3), 'abcd')).toBe(false);
    expect(Value.Check(textOf(3), 'abcd')).toBe(false);
  });
});

test('a record has no name and no value of another shape, and no more members than its bound', () => {
  const shape = recordOf(Type.String({ pattern: '^[a-z]*$', maxLength: 3 }), Type.Integer(), {
    maxProperties: 2,
  });

  for (const record of [{}, { abc: 1 }, { a: 1, b: 2 }]) expect(Value.Check(shape, record)).toBe(true);
  for (const record of [{ A: 1 }, { abcd: 1 }, { a: '1' }, { a: 1, b: 2, c: 3 }, []]) {
    expect(Value.Check(shape, record)).toBe(false);
  }
});

test('a cursor is an id of the listed kind', () => {
  const { cursor } = pageQuery('ag');

  expect(Value.Check(cursor, 'ag_01K9Z3QW5M8T2V4X6Y7Z8A9B01')).toBe(true);
  for (const text of [
    '',
    'ag_',
    'grnt_01K9Z3QW5M8T2V4X6Y7Z8A9B01',
    'ag_01K9Z3QW5M8T2V4X6Y7Z8A9B0I',
    'ag_01k9z3qw5m8t2v4x6y7z8a9b01',
  ]) {
    expect(Value.Check(cursor, text)).toBe(false);
  }
});

test('an id is anything short and printable', () => {
  expect(Value.Check(Id, 'whatever')).toBe(true);
  for (const text of ['', 'a\n', 'é', 'a'.repeat(257)]) expect(Value.Check(Id, text)).toBe(false);
});

test('a principal is named by any text without control characters, an audience by any without white space', () => {
  for (const text of ['user_42', 'Ada Lovelace', '日本']) expect(Value.Check(PrincipalId, text)).toBe(true);
  for (const text of ['', 'a\0b', 'a\u007f', 'a'.repeat(257)])
    expect(Value.Check(PrincipalId, text)).toBe(false);
  for (const text of ['https://api.acme.test', 'S']) expect(Value.Check(Audience, text)).toBe(true);
  for (const text of ['', 'a b', 'a\n', 'a'.repeat(1025)]) expect(Value.Check(Audience, text)).toBe(false);
});

test('scopes are 1 to 100 texts, a duration is a number and a unit', () => {
  expect(Value.Check(ScopeList, ['any text'])).toBe(true);
  for (const list of [[], Array(101).fill('a'), [1], 'a']) expect(Value.Check(ScopeList, list)).toBe(false);
  expect(Value.Check(Duration, '24h')).toBe(true);
  for (const text of ['0h', '1w', '1h ', '12345678901s']) expect(Value.Check(Duration, text)).toBe(false);
});

describe('public keys', () => {
  const rsaJwk = rsa.publicKey.export({ format: 'jwk' });
  const ecJwk = ec.publicKey.export({ format: 'jwk' });

  test('are RSA or P-256, with or without what says so', () => {
    for (const jwk of [
      rsaJwk,
      ecJwk,
      { ...rsaJwk, alg: 'RS256', use: 'sig', kid: 'mine', key_ops: ['verify'], ext: true },
      { ...ecJwk, alg: 'ES256', use: 'sig' },
    ]) {
      expect(Value.Check(PublicJwk, jwk)).toBe(true);
    }
  });

  test.each<[string, object]>([
    ['a private RSA key', rsa.privateKey.export({ format: 'jwk' })],
    ['a private EC key', ec.privateKey.export({ format: 'jwk' })],
    ['a key with another algorithm', { ...rsaJwk, alg: 'PS256' }],
    ['a key for encryption', { ...rsaJwk, use: 'enc' }],
    ['a key that signs', { ...ecJwk, key_ops: ['sign'] }],
    ['a short modulus', { ...rsaJwk, n: 'A'.repeat(341) }],
    ['another curve', { ...ecJwk, crv: 'P-384' }],
    ['half a point', { ...ecJwk, y: undefined }],
    ['a secret', { kty: 'oct', k: 'AAAA' }],
    ['Ed25519', { kty: 'OKP', crv: 'Ed25519', x: 'A'.repeat(43) }],
    ['padding', { ...ecJwk, x: `${'A'.repeat(42)}=` }],
    ['a certificate', { ...rsaJwk, x5c: ['MIIB'] }],
  ])('are not %s', (_, jwk) => {
    expect(Value.Check(PublicJwk, jwk)).toBe(false);
  });
});
