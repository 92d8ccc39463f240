import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { findRedis } from '../redis/program.ts';
import { findRunning, type RedisAccess, redisUrl, startRedis, stopRedis } from '../redis/server.ts';
import type { Home } from './home.ts';
import type { Running } from './postgres.ts';
import { givenSetting } from './settings.ts';

/** Uses REDIS_URL, or starts a Redis, or goes without and says so. */
export async function runRedis({ folder }: Home, print: (line: string) => void): Promise<Running> {
  const given = givenSetting('REDIS_URL');
  if (given) return { url: given, words: 'as REDIS_URL says', stop: async () => {} };

  const place = redisFolder(folder);
  mkdirSync(place, { recursive: true, mode: 0o700 });
  const orphan = await findRunning(place);
  if (orphan) return runningAt(orphan, 'found running');
  const program = await findRedis(folder, () => print('Fetching a Redis to unpack here, once…'));
  if (!program) return { url: 'memory:', words: NONE, stop: async () => {} };
  const access = await startRedis(program, place);
  return runningAt(access, program.origin === 'unpacked' ? 'unpacked from Debian packages' : program.path);
}

const NONE =
  'memory: — none to be had; counters are lost on restart, one process only (redis-server would change that)';

export function redisFolder(folder: string): string {
  return join(folder, 'redis-data');
}

function runningAt(access: RedisAccess, words: string): Running {
  return { url: redisUrl(access), words, stop: () => stopRedis(access) };
}
