import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeBase64url } from './base64url.ts';

test('every sequence of bytes is read back', () => {
  fc.assert(
    fc.property(fc.uint8Array(), (bytes) => {
      expect(decodeBase64url(Buffer.from(bytes).toString('base64url'))).toEqual(Uint8Array.from(bytes));
    }),
  );
});

test('J13: a text is read only when it is the one text of its bytes', () => {
  const character = fc.constantFrom(...'AQgwZz019-_+/= \n.é\u0100');

  fc.assert(
    fc.property(fc.string({ unit: character, maxLength: 8 }), (text) => {
      const isTheText = Buffer.from(text, 'base64url').toString('base64url') === text;
      return (decodeBase64url(text) !== undefined) === isTheText;
    }),
    { numRuns: 2_000 },
  );
});
