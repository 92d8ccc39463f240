import { readRedis } from '../platform/redis/redis-look.ts';
import { type Check, failed, passed, reasonOf, warned } from './check.ts';

/**
 * Whether a Redis answers, is new enough, and keeps what it is told.
 *
 * @param setting the name of the setting that holds the address
 */
export async function redisCheck(id: string, setting: string, url: string): Promise<Check> {
  if (url === 'memory:') {
    const fix = `set ${setting} before there is a second instance`;
    return warned(id, 'none: counters live in one process, and end with it', fix);
  }
  try {
    const { version, problems } = await readRedis(url);
    return problems.length === 0
      ? passed(id, `Redis ${version || 'of an unknown version'}`)
      : warned(id, problems.join('; '), 'change the settings of Redis');
  } catch (error) {
    return failed(id, reasonOf(error), `look at ${setting}, and whether Redis runs there`);
  }
}
