import { type Kept, startKeeper } from './keeper.ts';

/**
 * A server of our own, or the one named by TEST_REDIS_URL. `memory:` where there is neither, and the tests
 * that need a real one are skipped; on CI that is a failure instead.
 */
export async function startRedis(): Promise<Kept> {
  const given = process.env.TEST_REDIS_URL;
  if (given) return { url: given, stop: async () => {} };
  const kept = await startKeeper('redis-keeper.ts');
  if (kept.url !== 'memory:' || process.env.CI !== 'true') return kept;
  await kept.stop();
  throw new Error('There is no Redis: install redis-server, or set TEST_REDIS_URL.');
}
