import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { unpackProgram } from '../machine/debian.ts';

export interface RedisProgram {
  readonly path: string;
  readonly origin: 'installed' | 'unpacked';
  /** Folders of libraries that the system may lack. */
  readonly libraries: readonly string[];
}

const PACKAGES = ['redis-server', 'redis-tools', 'libjemalloc2', 'liblzf1', 'libatomic1'];

const DEBIAN = {
  name: 'redis',
  path: 'usr/bin/redis-server',
  // A very bare system lacks the library of TLS besides, under the names of different releases.
  packages: [PACKAGES, [...PACKAGES, 'libssl3'], [...PACKAGES, 'libssl3t64']],
  flags: ['--version'],
} as const;

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
  const unpacked = await unpackProgram(DEBIAN, home, beforeFetching);
  return unpacked && { path: unpacked.path, origin: 'unpacked', libraries: unpacked.libraries };
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
