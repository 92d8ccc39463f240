import { inject } from 'vitest';

/**
 * The run's Redis, in a database that no other worker uses: files that run at the same time neither count nor
 * notice each other. @returns `memory:` where there is no Redis.
 */
export function redisUrl(): string {
  const given = inject('redisUrl');
  if (given === 'memory:') return given;
  return new URL(`/${process.env.VITEST_POOL_ID}`, given).href;
}
