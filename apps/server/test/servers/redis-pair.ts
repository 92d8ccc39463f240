import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { makeThrowAway } from '../../../../scripts/machine/folders.ts';
import { signal, waitUntil } from '../../../../scripts/machine/processes.ts';
import { ask, findRedis, newPassword, redisUrl, startRedis } from '../../../../scripts/redis/server.ts';
import { relayTo } from './relay.ts';

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
  const isLinked = async () => (await ask(replica, 'INFO replication')).includes('master_link_status:up');
  if (!(await waitUntil(isLinked, { seconds: 20 }))) throw new Error('The replica does not follow.');

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
