import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { makeThrowAway, signal, sweepThrowAways, waitUntil } from '../../../../scripts/machine/folders.ts';
import { freePort } from '../../../../scripts/machine/ports.ts';
import {
  ask,
  type ClusterNode,
  findRedis,
  findRunning,
  formCluster,
  isLinked,
  newPassword,
  redisUrl,
  slotsEach,
  startRedis,
  stopRedis,
} from '../../../../scripts/redis/server.ts';
import { slotOf } from '../../src/platform/redis/redis-connection.ts';
import { relayTo } from './relay.ts';

const MASTERS = 3;
const NODE_TIMEOUT = 1000; // milliseconds

const KIND = 'redis-cluster';
const NODES = ['one', 'two', 'three', 'replica'];

interface Node extends ClusterNode {
  readonly pid: number;
}

/** Three masters on this machine, and a replica of the first one. A test may suspend and kill them. */
export async function startRedisCluster() {
  await sweepThrowAways(KIND, { end: endOrphans });
  const program = await findRedis(join(import.meta.dirname, '../../../../.behest'));
  if (!program) throw new Error('There is no Redis: install redis-server.');
  const home = makeThrowAway(KIND);
  const password = newPassword();
  const startNode = async (name: string): Promise<Node> => {
    const folder = join(home, name);
    mkdirSync(folder);
    const busPort = await freePort();
    const settings = [
      'cluster-enabled yes',
      `cluster-port ${busPort}`,
      `cluster-node-timeout ${NODE_TIMEOUT}`,
      'cluster-require-full-coverage no', // two masters of three serve their keys
      `masterauth ${password}`,
      'repl-diskless-sync-delay 0',
    ];
    const access = await startRedis(program, folder, settings, password);
    return {
      ...access,
      busPort,
      pid: Number(/process_id:(\d+)/.exec(await ask(access, 'INFO server'))?.[1]),
    };
  };
  const nodes = await Promise.all(NODES.map(startNode));
  const masters = nodes.slice(0, MASTERS);
  await formCluster(nodes, MASTERS);

  const send = (place: number, name: NodeJS.Signals) => {
    const master = masters[place];
    if (master) signal(master.pid, name);
  };
  return {
    url: masters.map(({ port }) => `redis://:${password}@127.0.0.1:${port}`).join(','),
    masters,
    /** The place in `masters` of the one that holds a key. */
    placeOf: (key: string) => Math.floor(slotOf(key) / slotsEach(MASTERS)),
    hang: (place: number) => send(place, 'SIGSTOP'),
    goOn: (place: number) => send(place, 'SIGCONT'),
    kill: (place: number) => send(place, 'SIGKILL'),
    async remove() {
      for (const { pid } of nodes) signal(pid, 'SIGCONT');
      await Promise.all(nodes.map(stopRedis));
      rmSync(home, { recursive: true, force: true });
    },
  };
}

async function endOrphans(home: string): Promise<void> {
  for (const name of NODES) {
    const orphan = await findRunning(join(home, name));
    if (orphan) await stopRedis(orphan);
  }
}

/** A Redis and its replica, with one address for both. They end with the test. */
export async function redisPair() {
  const program = await findRedis(join(import.meta.dirname, '../../../../.behest'));
  if (!program) throw new Error('There is no Redis: install redis-server.');
  const home = makeThrowAway('pair');
  const pids: number[] = [];
  onTestFinished(() => {
    for (const pid of pids) signal(pid, 'SIGKILL');
    rmSync(home, { recursive: true, force: true });
  });
  const password = newPassword();
  const start = async (name: string) => {
    const folder = join(home, name);
    mkdirSync(folder);
    const settings = [`masterauth ${password}`, 'repl-diskless-sync-delay 0'];
    const access = await startRedis(program, folder, settings, password);
    const pid = Number(/process_id:(\d+)/.exec(await ask(access, 'INFO server'))?.[1]);
    pids.push(pid);
    return { ...access, pid };
  };
  const [primary, replica] = [await start('primary'), await start('replica')];
  await ask(replica, `REPLICAOF 127.0.0.1 ${primary.port}`);
  if (!(await waitUntil(() => isLinked(replica), { seconds: 20 })))
    throw new Error('The replica does not follow.');

  let current = primary.port;
  const relay = await relayTo(() => current);
  onTestFinished(() => relay.close());
  return {
    url: redisUrl({ port: relay.port, password }),
    killPrimary: () => signal(primary.pid, 'SIGKILL'),
    /** Leads new connections to the replica, promoted or not. */
    leadToReplica: () => {
      current = replica.port;
    },
    promote: () => ask(replica, 'REPLICAOF NO ONE'),
  };
}
