import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { waitUntil } from '../../../tools/machine/processes.ts';
import { makeThrowAway, sweepThrowAways } from '../../../tools/machine/throw-away.ts';
import { findRedis } from '../../../tools/redis/program.ts';
import {
  ask,
  findRunning,
  type RedisAccess,
  redisUrl,
  startRedis,
  stopRedis,
} from '../../../tools/redis/server.ts';
import { keep } from './keeper.ts';

const KIND = 'redis';
const SLOTS = 'CLUSTER ADDSLOTSRANGE 0 16383'; // all there are

const home = makeThrowAway(KIND);
let running: RedisAccess | undefined;
await keep(start, stop);

/**
 * One node that owns every slot: a script whose keys share no hash tag fails here, as it would in a real
 * cluster. Such a node refuses work for the first two seconds of its life.
 */
async function start(): Promise<string> {
  await sweepThrowAways(KIND, { end: endOrphan });
  const program = await findRedis(join(import.meta.dirname, '../../../.behest'));
  if (!program) return 'memory:';
  running = await startRedis(program, home, ['cluster-enabled yes']);
  const access = running;
  await ask(access, SLOTS);
  const isReady = async () => (await ask(access, 'CLUSTER INFO')).includes('cluster_state:ok');
  if (!(await waitUntil(isReady, { seconds: 10 })))
    throw new Error('The Redis cluster of one does not form.');
  return redisUrl(access);
}

async function stop(): Promise<void> {
  if (running) await stopRedis(running);
  rmSync(home, { recursive: true, force: true });
}

async function endOrphan(folder: string): Promise<void> {
  const orphan = await findRunning(folder);
  if (orphan) await stopRedis(orphan);
}
