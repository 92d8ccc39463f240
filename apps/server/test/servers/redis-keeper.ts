import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { makeThrowAway, sweepThrowAways } from '../../../../scripts/machine/folders.ts';
import {
  findRedis,
  findRunning,
  type RedisAccess,
  redisUrl,
  startRedis,
  stopRedis,
} from '../../../../scripts/redis/server.ts';
import { keep } from './keeper.ts';

const KIND = 'redis';

const home = makeThrowAway(KIND);
let running: RedisAccess | undefined;
await keep(start, stop);

async function start(): Promise<string> {
  await sweepThrowAways(KIND, { end: endOrphan });
  const program = await findRedis(join(import.meta.dirname, '../../../../.behest'));
  if (!program) throw new Error('There is no Redis: install redis-server, or set TEST_REDIS_URL.');
  running = await startRedis(program, home);
  return redisUrl(running);
}

async function stop(): Promise<void> {
  if (running) await stopRedis(running);
  rmSync(home, { recursive: true, force: true });
}

async function endOrphan(folder: string): Promise<void> {
  const orphan = await findRunning(folder);
  if (orphan) await stopRedis(orphan);
}
