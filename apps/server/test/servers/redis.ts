import { type Kept, startKeeper } from './keeper.ts';

/** A server of our own, or the one named by TEST_REDIS_URL. @throws where there is neither: no test is left out. */
export async function startRedis(): Promise<Kept> {
  const given = process.env.TEST_REDIS_URL;
  if (given) return { url: given, stop: async () => {} };
  return startKeeper('redis-keeper.ts');
}
