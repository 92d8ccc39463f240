import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { expect, onTestFinished, test, vi } from 'vitest';
import { startApp } from '../../../../test/app/start-app.ts';

/** Counts the comparisons in constant time in the whole process. */
function watchComparisons() {
  const compare = vi.spyOn(crypto, 'timingSafeEqual');
  syncBuiltinESMExports();
  onTestFinished(() => {
    compare.mockRestore();
    syncBuiltinESMExports();
  });
  return compare.mock.calls;
}

test('T2 a key is compared in constant time, even when no stored key matches', async () => {
  const { asDeveloper, calling } = await startApp();
  const { apiKey } = await asDeveloper();
  const comparisons = watchComparisons();
  const compared = async (key: string) => {
    comparisons.length = 0;
    const { statusCode } = await calling(key)('GET', '/v1/me');
    return [statusCode, comparisons.length];
  };

  // The first comparison is with the cache of this process, the second with the database after a miss.
  expect(await compared(apiKey)).toEqual([200, 2]);
  expect(await compared(apiKey)).toEqual([200, 2]);
  expect(await compared(apiKey)).toEqual([200, 1]);
  expect(await compared(`${apiKey.slice(0, -4)}AAAA`)).toEqual([401, 2]);
  expect(await compared('nothing-like-a-key')).toEqual([401, 2]);
});
