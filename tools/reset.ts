import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { endEarlier } from './dev/earlier.ts';
import { openHome } from './dev/home.ts';
import { postgresData, stopServer } from './dev/postgres.ts';
import { redisFolder } from './dev/redis.ts';
import { dataHome } from './postgres/programs.ts';
import { findRunning, stopRedis } from './redis/server.ts';

/** `npm run reset`: ends the processes of this checkout, and removes its data and keys. */
const home = openHome(join(import.meta.dirname, '..'));
for (const ended of await endEarlier(home)) process.stdout.write(`Ended ${ended}.\n`);
for (const folder of postgresData(home)) await stopServer(folder);
const redis = await findRunning(redisFolder(home.folder));
if (redis) await stopRedis(redis);
for (const folder of new Set([home.folder, dataHome(home.root)])) {
  rmSync(folder, { recursive: true, force: true });
  process.stdout.write(`Removed ${folder}\n`);
}
