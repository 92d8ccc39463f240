import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { expect, test, vi } from 'vitest';
import { hexOf } from './hashes.ts';

const texts = ['', 'call-1', 'é€😀', 'half \ud800 a pair', 'x'.repeat(1_000)];

test('a runtime without Node has the same hashes', async () => {
  vi.spyOn(process, 'getBuiltinModule').mockReturnValue(undefined);
  vi.resetModules();
  const elsewhere = await import('./hashes.ts');
  vi.restoreAllMocks();

  expect(elsewhere.hexOf).not.toBe(hexOf);
  for (const text of texts) {
    expect(hexOf(text)).toBe(bytesToHex(sha256(utf8ToBytes(text))));
    expect(elsewhere.hexOf(text)).toBe(hexOf(text));
  }
});
