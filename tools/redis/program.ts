import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type RedisProgram, unpackRedis } from './unpack.ts';

/**
 * Finds a Redis, because no npm package has one.
 * @returns undefined when this machine has no Redis and can get none
 */
export async function findRedis(home: string, beforeFetching = () => {}): Promise<RedisProgram | undefined> {
  for (const name of ['redis-server', 'valkey-server']) {
    const path = (process.env.PATH ?? '')
      .split(delimiter)
      .map((folder) => join(folder, name))
      .find(isProgram);
    if (path) return { path, origin: 'installed', libraries: [] };
  }
  return unpackRedis(home, beforeFetching);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
