import { inject } from 'vitest';

/**
 * The run's Redis, in a database that no other worker uses, so files that run at the same time do not disturb
 * each other.
 */
export function redisUrl(): string {
  return new URL(`/${process.env.VITEST_POOL_ID}`, inject('redisUrl')).href;
}
