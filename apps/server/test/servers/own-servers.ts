import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { makeThrowAway, signal } from '../../../../scripts/machine/folders.ts';
import { freePort } from '../../../../scripts/machine/ports.ts';
import {
  accountForPostgres,
  createCluster,
  newPassword,
  startCluster,
  USER,
} from '../../../../scripts/postgres/cluster.ts';
import { postgresPrograms } from '../../../../scripts/postgres/programs.ts';
import { ask, findRedis, redisUrl, startRedis, stopRedis } from '../../../../scripts/redis/server.ts';
import { relayTo } from './relay.ts';

const ROOT = join(import.meta.dirname, '../../../..');

/** A crash keeps every commit, because the system holds it and does not crash here. */
const SETTINGS = { fsync: 'off', full_page_writes: 'off', autovacuum: 'off' };

/** A Postgres that a test may crash, restart and suspend. */
export async function ownPostgres() {
  const home = makeThrowAway('outage');
  const account = accountForPostgres();
  const cluster = { folder: join(home, 'data'), account, programs: postgresPrograms(ROOT, account) };
  const [password, port] = [newPassword(), await freePort()];
  createCluster(cluster, password);
  const start = () => startCluster(cluster, port, { settings: SETTINGS, logFile: join(home, 'log') });
  let server = await start();
  const all = () => [server.pid ?? 0, ...childrenOf(server.pid ?? 0)];

  async function crash(): Promise<void> {
    if (server.exitCode !== null || server.signalCode !== null) return;
    const ended = new Promise((resolve) => server.once('exit', resolve));
    server.kill('SIGQUIT'); // "immediate": no message to clients, and no checkpoint
    await ended;
  }
  return {
    url: `postgres://${USER}:${password}@127.0.0.1:${port}/postgres`,
    crash,
    start: async () => {
      server = await start();
    },
    hang: () => all().forEach((pid) => void signal(pid, 'SIGSTOP')),
    goOn: () => all().forEach((pid) => void signal(pid, 'SIGCONT')),
    remove: async () => {
      all().forEach((pid) => void signal(pid, 'SIGCONT'));
      await crash();
      rmSync(home, { recursive: true, force: true });
    },
  };
}

/** A Redis that a test may stop, restart, empty and suspend. @returns undefined where there is no Redis */
export async function ownRedis() {
  const program = await findRedis(join(ROOT, '.behest'));
  if (!program) return undefined;
  const home = makeThrowAway('outage');
  let running = await startRedis(program, home);
  const relay = await relayTo(() => running.port);
  const pidOf = async () => Number(/process_id:(\d+)/.exec(await ask(running, 'INFO server'))?.[1]);
  let pid = await pidOf();
  /** Each start sets a new password, and clients know only the first. */
  const { password } = running;
  const start = async () => {
    running = await startRedis(program, home);
    await ask(running, `CONFIG SET requirepass ${password}`);
    running = { ...running, password };
    pid = await pidOf();
  };
  return {
    url: redisUrl({ port: relay.port, password }),
    stop: () => stopRedis(running),
    start,
    empty: () => ask(running, 'FLUSHALL'),
    set: (...settings: string[]) => ask(running, `CONFIG SET ${settings.join(' ')}`),
    follow: (master: string) => ask(running, `REPLICAOF ${master}`),
    hang: () => signal(pid, 'SIGSTOP'),
    goOn: () => signal(pid, 'SIGCONT'),
    remove: async () => {
      signal(pid, 'SIGCONT');
      await stopRedis(running);
      relay.close();
      rmSync(home, { recursive: true, force: true });
    },
  };
}

export function childrenOf(pid: number): number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
  } catch {
    return []; // the process and its children have ended
  }
}
