import { decode } from 'base58-universal';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ed25519Multikey, multibase, readMultikey } from './multikey.rules.ts';

const zerosFirst = fc
  .tuple(fc.integer({ min: 0, max: 4 }), fc.uint8Array({ maxLength: 64 }))
  .map(([zeros, rest]) => Buffer.concat([Buffer.alloc(zeros), rest]))
  .filter((bytes) => bytes.length > 0);

test('another library reads the same bytes, zeros at the beginning too', () => {
  fc.assert(
    fc.property(zerosFirst, (bytes) => {
      const text = multibase(bytes);
      expect(text[0]).toBe('z');
      expect(Buffer.from(decode(text.slice(1)))).toEqual(bytes);
    }),
  );
});

test('a key is read as it was written, and another length is no key', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 31, maxLength: 33 }), (key) => {
      const read = readMultikey(ed25519Multikey(key));
      expect(read).toEqual(key.length === 32 ? { kind: 'Ed25519', publicKey: Buffer.from(key) } : undefined);
    }),
  );
});
