import { rmSync } from 'node:fs';
import { dataHome } from '../postgres/programs.ts';
import { findRunning, stopRedis } from '../redis/server.ts';
import { endEarlier } from './earlier.ts';
import type { Home } from './home.ts';
import { postgresData, redisFolder, stopServer } from './postgres.ts';

/** Ends the processes of a folder, and removes its data and keys. */
export async function reset(home: Home, print: (line: string) => void): Promise<void> {
  for (const ended of await endEarlier(home)) print(`Ended ${ended}.`);
  for (const folder of postgresData(home)) await stopServer(folder);
  const redis = await findRunning(redisFolder(home.folder));
  if (redis) await stopRedis(redis);
  for (const folder of new Set([home.folder, dataHome(home.folder)])) {
    rmSync(folder, { recursive: true, force: true });
    print(`Removed ${folder}`);
  }
}
