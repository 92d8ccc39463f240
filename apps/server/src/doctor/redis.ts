import { setTimeout as delay } from 'node:timers/promises';
import { type RedisSettings, readSettings } from '@behest/meter/redis-settings';
import { connectToCluster, connectToServer, nodesOf } from '../platform/redis/redis-connection.ts';
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

const PATIENCE = 5_000; // milliseconds; an operator waits

/**
 * Asks a Redis for its version, and for settings with which it could lose counters.
 *
 * @throws Error when it does not answer
 */
async function readRedis(url: string): Promise<RedisSettings> {
  let lost: Error | undefined;
  const watcher = {
    onLost(_: string, error: Error) {
      lost ??= error;
    },
    onReady: () => {},
  };
  const nodes = nodesOf(url);
  const connection = nodes.length > 1 ? connectToCluster(nodes, watcher) : connectToServer(url, watcher);
  const ending = new AbortController();
  const late = delay(PATIENCE, undefined, { signal: ending.signal }).then(
    () => Promise.reject(lost ?? new Error(`Redis did not answer within ${PATIENCE / 1_000} seconds`)),
    () => undefined,
  );
  const ask = async () => {
    await connection.attempted;
    if (lost) throw lost;
    const [probe = ''] = connection.probes();
    return readSettings((command, key) => connection.send(command, key), probe, false);
  };
  try {
    const settings = await Promise.race([ask(), late]);
    if (!settings) throw new Error('Redis did not answer');
    return settings;
  } finally {
    ending.abort();
    connection.close();
  }
}
