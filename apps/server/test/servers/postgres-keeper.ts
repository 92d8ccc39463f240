import type { ChildProcess } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import {
  isRunning,
  makeThrowAway,
  memoryFolder,
  signal,
  sweepThrowAways,
  waitUntil,
} from '../../../../scripts/machine/folders.ts';
import { freePort } from '../../../../scripts/machine/ports.ts';
import {
  accountForPostgres,
  createCluster,
  newPassword,
  readServerFile,
  startCluster,
  stopCluster,
  USER,
} from '../../../../scripts/postgres/cluster.ts';
import { postgresPrograms } from '../../../../scripts/postgres/programs.ts';
import { keep } from './keeper.ts';

const KIND = 'postgres';
const PORT_ATTEMPTS = 5; // another process may take a free port at any time

/** Every file goes at the end of the run, so the server need not write safely. */
const careless = {
  fsync: 'off',
  full_page_writes: 'off',
  synchronous_commit: 'off',
  autovacuum: 'off',
  wal_level: 'minimal',
  max_wal_senders: 0,
  max_connections: 200,
  deadlock_timeout: '100ms',
};
/** For measurements of durability: every commit is on the disk before the answer. */
const durable = { shared_buffers: '512MB', max_connections: 200 };
const isDurable = process.argv.includes('--durable');
const syncDelay = Number(process.argv.find((flag) => flag.startsWith('--sync-delay='))?.split('=')[1] ?? 0);
const settings = isDurable ? durable : careless;

/** A run makes some 600 databases of 18 MB, a few at a time, each in a third of the time that a disk takes. */
const inMemory = memoryFolder(4);
const home = makeThrowAway(KIND, isDurable ? undefined : inMemory);
let server: ChildProcess | undefined;
await keep(start, stop);

async function start(): Promise<string> {
  await sweepThrowAways(KIND, { end: endOrphan });
  if (inMemory) await sweepThrowAways(KIND, { end: endOrphan, place: inMemory });
  const account = accountForPostgres();
  const programs = postgresPrograms(join(import.meta.dirname, '../../../..'), account);
  const cluster = { folder: join(home, 'data'), account, programs };
  const password = newPassword();
  createCluster(cluster, password);
  for (let attempt = 1; ; attempt += 1) {
    const port = await freePort();
    try {
      server = await startCluster(cluster, port, { settings, logFile: join(home, 'log'), syncDelay });
      return `postgres://${USER}:${password}@127.0.0.1:${port}/postgres`;
    } catch (error) {
      if (attempt === PORT_ATTEMPTS) throw error;
    }
  }
}

async function stop(): Promise<void> {
  if (server) await stopCluster(server);
  rmSync(home, { recursive: true, force: true });
}

async function endOrphan(folder: string): Promise<void> {
  const pid = readServerFile(join(folder, 'data'))?.pid ?? 0;
  if (!isRunning(pid, folder)) return;
  signal(pid, 'SIGQUIT');
  await waitUntil(() => !isRunning(pid, folder), { seconds: 5 }); // the server writes until it ends
}
