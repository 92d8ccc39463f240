import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { expect, onTestFinished, test, vi } from 'vitest';
import { startApp } from '../../../../test/app/start-app.ts';

/** Counts what is compared in constant time, wherever in the process that is. */
function watchComparisons() {
  const compare = vi.spyOn(crypto, 'timingSafeEqual');
  syncBuiltinESMExports();
  onTestFinished(() => {
    compare.mockRestore();
    syncBuiltinESMExports();
  });
  return compare.mock.calls;
}

test('T2 a key is compared in constant time, also when there is none to compare it with', async () => {
  const { asDeveloper, calling } = await startApp();
  const { apiKey } = await asDeveloper();
  const comparisons = watchComparisons();
  const compared = async (key: string) => {
    comparisons.length = 0;
    const { statusCode } = await calling(key)('GET', '/v1/me');
    return [statusCode, comparisons.length];
  };

  // With what this process remembers, and where that does not suffice with what the database has.
  expect(await compared(apiKey)).toEqual([200, 2]);
  expect(await compared(apiKey)).toEqual([200, 1]);
  expect(await compared(`${apiKey.slice(0, -4)}AAAA`)).toEqual([401, 2]);
  expect(await compared('nothing-like-a-key')).toEqual([401, 2]);
});
