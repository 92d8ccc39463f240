import { setTimeout as delay } from 'node:timers/promises';
import { type RedisSettings, readSettings } from '@behest/meter/redis-settings';
import { nodesOf } from './nodes.ts';
import { connectToCluster, connectToServer } from './redis-connection.ts';

const PATIENCE = 5_000; // milliseconds; an operator waits

/**
 * Asks a Redis for its version, and for settings with which it could lose counters.
 *
 * @throws Error when it does not answer
 */
export async function readRedis(url: string): Promise<RedisSettings> {
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
