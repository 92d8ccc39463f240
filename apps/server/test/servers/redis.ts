import { type Kept, startKeeper } from './keeper.ts';

/** Starts a server, or takes the server of TEST_REDIS_URL. @throws without either, so no test is left out */
export async function startRedis(): Promise<Kept> {
  const given = process.env.TEST_REDIS_URL;
  if (given) return { url: given, stop: async () => {} };
  return startKeeper('redis-keeper.ts');
}
