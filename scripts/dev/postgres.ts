import { existsSync, globSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isRunning, makePassage, signal, waitUntil } from '../machine/folders.ts';
import { freePort, isPortFree } from '../machine/ports.ts';
import {
  accountForPostgres,
  type Cluster,
  createCluster,
  newPassword,
  readServerFile,
  startCluster,
  USER,
} from '../postgres/cluster.ts';
import { dataHome, postgresPrograms } from '../postgres/programs.ts';
import {
  findRedis,
  findRunning,
  type RedisAccess,
  redisUrl,
  startRedis,
  stopRedis,
} from '../redis/server.ts';

/** Where a start finds its programs, and keeps its files. */
export interface Home {
  /** The checkout, or the installed package of the server. */
  readonly root: string;
  /** `.behest/` */
  readonly folder: string;
  /** The programs of the start and of the server, below the root. */
  readonly programs: { readonly start: string; readonly server: string };
}

export const CHECKOUT = { start: 'scripts/start.ts', server: 'apps/server/start.mjs' } as const;

/** @throws when the commands of another user made the folder: the two users cannot read each other's files */
export function openHome(
  root: string,
  folder = join(root, '.behest'),
  programs: Home['programs'] = CHECKOUT,
): Home {
  const owner = existsSync(folder) ? statSync(folder).uid : undefined;
  if (owner !== undefined && process.getuid && owner !== process.getuid())
    throw new Error(`${folder} belongs to another user (uid ${owner}); start as that user, or remove it.`);
  makePassage(folder);
  return { root, folder, programs };
}

/** Reads a variable as the server does: from the environment, or from the file that `<name>_FILE` names. */
export function givenSetting(name: string): string | undefined {
  const value = process.env[name]?.trim();
  const file = process.env[`${name}_FILE`]?.trim();
  if (value || !file) return value || undefined; // empty is unset
  return readFileSync(file, 'utf8').trim();
}

/** Drops each default whose variable the person has set. */
export function unlessGiven(settings: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(settings).filter(([name]) => givenSetting(name) === undefined));
}

const PORT = 54_329; // used when it is free; 5432 is left to a Postgres of the machine
const DATA = 'postgres-data-';
const SETTINGS = { shared_buffers: '64MB', log_min_messages: 'warning' };

interface Running {
  readonly url: string;
  /** A description for the person who started it. */
  readonly words: string;
  readonly stop: () => Promise<void>;
}

/** Uses DATABASE_URL, or starts a Postgres that keeps its data in the folder of the start. */
export async function runPostgres({ root, folder }: Home): Promise<Running> {
  const given = givenSetting('DATABASE_URL');
  if (given) return { url: given, words: 'as DATABASE_URL says', stop: async () => {} };

  const account = accountForPostgres();
  const home = dataHome(folder);
  const programs = postgresPrograms(root, account, home);
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

/** Lists the folders of data, of any major version. */
export function postgresData({ folder }: Home): string[] {
  return globSync(join(dataHome(folder), `${DATA}*`)).filter((path) => statSync(path).isDirectory());
}

/**
 * Makes a cluster unless a complete one is there. The password file is written after initdb, so a cluster
 * without that file is incomplete and is made again.
 */
function keepCluster(cluster: Cluster): string {
  const file = `${cluster.folder}.password`;
  if (existsSync(file)) return readFileSync(file, 'utf8');
  const password = newPassword();
  createCluster(cluster, password);
  writeFileSync(file, password, { mode: 0o600 });
  return password;
}

/** Adopts a Postgres that a killed start left running. */
async function serve(cluster: Cluster): Promise<{ adopted: boolean; port: number }> {
  const { folder } = cluster;
  const isSettled = () => !isOurs(folder) || readServerFile(folder)?.state === 'ready';
  if (!(await waitUntil(isSettled, { seconds: 30 })))
    throw new Error(`Postgres on ${folder} neither gets ready nor ends; see ${folder}.log.`);
  const running = readServerFile(folder);
  if (running && isOurs(folder)) return { adopted: true, port: running.port };

  // A killed Postgres leaves its pid file. When another process has that number by now, Postgres takes it for a
  // running Postgres and does not start.
  rmSync(join(folder, 'postmaster.pid'), { force: true });
  const port = (await isPortFree(PORT, '127.0.0.1')) ? PORT : await freePort();
  const server = await startCluster(cluster, port, { settings: SETTINGS, logFile: `${folder}.log` });
  server.unref();
  return { adopted: false, port };
}

function isOurs(folder: string): boolean {
  return isRunning(readServerFile(folder)?.pid ?? 0, folder);
}

/**
 * Stops Postgres by its pid file, because it may be an adopted process. The stop does not wait for clients.
 */
export async function stopServer(folder: string): Promise<void> {
  const pid = readServerFile(folder)?.pid ?? 0;
  if (!isRunning(pid, folder)) return;
  signal(pid, 'SIGINT');
  await waitUntil(() => !isRunning(pid, folder), { seconds: 20 });
}

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
