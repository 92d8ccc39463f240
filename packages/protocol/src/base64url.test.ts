import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeBase64url, encodeBase64url } from './base64url.ts';
import { bytesOfHex, bytesOfText, hexOfBytes } from './bytes.ts';

test('every sequence of bytes is written, and read back', () => {
  fc.assert(
    fc.property(fc.uint8Array(), (bytes) => {
      const [text, hex] = [Buffer.from(bytes).toString('base64url'), Buffer.from(bytes).toString('hex')];
      expect([encodeBase64url(bytes), hexOfBytes(bytes)]).toEqual([text, hex]);
      for (const read of [decodeBase64url(text), bytesOfHex(hex), bytesOfHex(hex.toUpperCase())])
        expect(read).toEqual(Uint8Array.from(bytes));
    }),
  );
});

test('every text has the bytes of UTF-8', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 40 }), (text) => {
      expect(bytesOfText(text)).toEqual(new TextEncoder().encode(text));
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
