import { describe, expect, test } from 'vitest';
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
