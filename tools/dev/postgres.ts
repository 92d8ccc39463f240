import { existsSync, globSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makePassage } from '../machine/folders.ts';
import { freePort, isPortFree } from '../machine/ports.ts';
import { isRunning, signal, waitUntil } from '../machine/processes.ts';
import { accountForPostgres } from '../postgres/account.ts';
import {
  type Cluster,
  createCluster,
  newPassword,
  readServerFile,
  startCluster,
  USER,
} from '../postgres/cluster.ts';
import { dataHome, postgresPrograms } from '../postgres/programs.ts';
import type { Home } from './home.ts';
import { givenSetting } from './settings.ts';

const PORT = 54_329; // when it is free; 5432 is left to a Postgres of the machine's own
const DATA = 'postgres-data-';
const SETTINGS = { shared_buffers: '64MB', log_min_messages: 'warning' };

export interface Running {
  readonly url: string;
  /** What it is, in a few words for the person who started it. */
  readonly words: string;
  readonly stop: () => Promise<void>;
}

/** DATABASE_URL, or a Postgres of our own that keeps its data in the checkout. */
export async function runPostgres({ root }: Home): Promise<Running> {
  const given = givenSetting('DATABASE_URL');
  if (given) return { url: given, words: 'as DATABASE_URL says', stop: async () => {} };

  const account = accountForPostgres();
  const programs = postgresPrograms(root, account);
  const home = dataHome(root);
  makePassage(home);
  const cluster = {
    folder: join(home, `postgres-data-${programs.version.split('.')[0]}`),
    account,
    programs,
  };
  const password = keepCluster(cluster);
  const { adopted, port } = await serve(cluster);
  return {
    url: `postgres://${USER}:${password}@127.0.0.1:${port}/postgres`,
    words: `${programs.version} embedded${adopted ? ', found running' : ''} (data in ${cluster.folder})`,
    stop: () => stopServer(cluster.folder),
  };
}

/** Folders of data there are, of whatever major version. */
export function postgresData({ root }: Home): string[] {
  return globSync(join(dataHome(root), `${DATA}*`)).filter((path) => statSync(path).isDirectory());
}

/** Written when initdb has done its work, so that one half made is made anew. */
function keepCluster(cluster: Cluster): string {
  const file = `${cluster.folder}.password`;
  if (existsSync(file)) return readFileSync(file, 'utf8');
  const password = newPassword();
  createCluster(cluster, password);
  writeFileSync(file, password, { mode: 0o600 });
  return password;
}

/** One left running by a start that was killed is adopted. */
async function serve(cluster: Cluster): Promise<{ adopted: boolean; port: number }> {
  const { folder } = cluster;
  const isSettled = () => !isOurs(folder) || readServerFile(folder)?.state === 'ready';
  if (!(await waitUntil(isSettled, { seconds: 30 })))
    throw new Error(`Postgres on ${folder} neither gets ready nor ends; see ${folder}.log.`);
  const running = readServerFile(folder);
  if (running && isOurs(folder)) return { adopted: true, port: running.port };

  // Left by one that was killed. Its number may be a zombie's or another's by now, and then Postgres would
  // take it for its own and not start.
  rmSync(join(folder, 'postmaster.pid'), { force: true });
  const port = (await isPortFree(PORT, '127.0.0.1')) ? PORT : await freePort();
  const server = await startCluster(cluster, port, { settings: SETTINGS, logFile: `${folder}.log` });
  server.unref();
  return { adopted: false, port };
}

function isOurs(folder: string): boolean {
  return isRunning(readServerFile(folder)?.pid ?? 0, folder);
}

/** By its own file, since it may be one that we adopted. Without waiting for clients to leave. */
export async function stopServer(folder: string): Promise<void> {
  const pid = readServerFile(folder)?.pid ?? 0;
  if (!isRunning(pid, folder)) return;
  signal(pid, 'SIGINT');
  await waitUntil(() => !isRunning(pid, folder), { seconds: 20 });
}
