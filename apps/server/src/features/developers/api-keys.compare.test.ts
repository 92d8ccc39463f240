import { timingSafeEqual } from 'node:crypto';
import { expect, test, vi } from 'vitest';
import { startApp } from '../../../test/start-app.ts';

vi.mock('node:crypto', async (original) => {
  const crypto: Record<string, unknown> = await original();
  return { ...crypto, timingSafeEqual: vi.fn(timingSafeEqualOf(crypto)) };
});

function timingSafeEqualOf({ timingSafeEqual: real }: Record<string, unknown>) {
  return typeof real === 'function' ? (a: Buffer, b: Buffer) => real(a, b) : undefined;
}

test('T2 a key is compared in constant time, also when there is none to compare it with', async () => {
  const { asDeveloper, calling } = await startApp();
  const { apiKey } = await asDeveloper();
  const compared = async (key: string) => {
    vi.mocked(timingSafeEqual).mockClear();
    const { statusCode } = await calling(key)('GET', '/v1/me');
    return [statusCode, vi.mocked(timingSafeEqual).mock.calls.length];
  };

  // With what this process remembers, and where that does not suffice with what the database has.
  expect(await compared(apiKey)).toEqual([200, 2]);
  expect(await compared(apiKey)).toEqual([200, 1]);
  expect(await compared(`${apiKey.slice(0, -4)}AAAA`)).toEqual([401, 2]);
  expect(await compared('nothing-like-a-key')).toEqual([401, 2]);
});
