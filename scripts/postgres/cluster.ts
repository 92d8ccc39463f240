import { type ChildProcess, type SpawnOptions, spawn, spawnSync } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import fs, { chownSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { waitUntil } from '../machine/folders.ts';
import type { Programs } from './programs.ts';

/** A folder of databases, and the programs and account to run it with. */
export interface Cluster {
  readonly folder: string;
  readonly account: Account;
  readonly programs: Programs;
}

export const USER = 'behest';

/** Makes an empty cluster: with the same order of text on every machine, and access by password alone. */
export function createCluster({ folder, account, programs }: Cluster, password: string): void {
  fs.rmSync(folder, { recursive: true, force: true });
  fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
  giveTo(account, folder);
  const text = ['-E', 'UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'];
  const passwordFile = `${folder}-${randomUUID()}`; // beside the folder, which must be empty
  fs.writeFileSync(passwordFile, password, { mode: 0o600 });
  giveTo(account, passwordFile);
  const { status, error, stderr } = spawnSync(
    join(programs.folder, 'bin/initdb'),
    ['-D', folder, '-U', USER, '-A', 'scram-sha-256', `--pwfile=${passwordFile}`, ...text, '--no-sync'],
    { ...spawning(account), encoding: 'utf8' },
  );
  fs.rmSync(passwordFile);
  if (status !== 0) throw new Error(`initdb: ${error?.message ?? stderr}`);
}

export function newPassword(): string {
  return randomBytes(24).toString('base64url');
}

interface Starting {
  readonly settings: Readonly<Record<string, string | number>>;
  readonly logFile: string;
  /** Milliseconds that each sync of the write-ahead log takes longer, as on a slower disk. Needs `strace`. */
  readonly syncDelay?: number;
}

/** Runs a program whose calls of `fdatasync` return later. No other call is slower, since a filter of the kernel picks them. */
const withSyncDelay = (milliseconds: number) => [
  ...[
    'strace',
    '-D',
    '-f',
    '-qq',
    '--seccomp-bpf',
    '-o',
    '/dev/null',
    '-e',
    'signal=none',
    '-e',
    'trace=fdatasync',
  ],
  ...['-e', `inject=fdatasync:delay_exit=${Math.round(milliseconds * 1000)}`],
];

/**
 * Starts Postgres detached, with a log file instead of a pipe, so that Ctrl-C does not reach it and the end of
 * this process does not break it.
 * @throws with the end of the log when Postgres does not get ready
 */
export async function startCluster(
  cluster: Cluster,
  port: number,
  { settings, logFile, syncDelay = 0 }: Starting,
) {
  const { folder, account, programs } = cluster;
  const all = {
    port,
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    timezone: 'UTC',
    log_timezone: 'UTC',
    jit: 'off',
    ...(process.platform === 'linux' && !fs.existsSync('/dev/shm') && { dynamic_shared_memory_type: 'mmap' }),
    ...settings,
  };
  const flags = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const log = fs.openSync(logFile, 'w', 0o600);
  const command = [join(programs.folder, 'bin/postgres'), '-D', folder, ...flags];
  const [program = '', ...args] = syncDelay > 0 ? [...withSyncDelay(syncDelay), ...command] : command;
  const server = spawn(program, args, {
    ...spawning(account),
    stdio: ['ignore', 'ignore', log],
    detached: true,
  });
  fs.closeSync(log);
  let problem = '';
  server.once('error', (error) => {
    problem = error.message;
  });

  const hasEnded = () => problem !== '' || server.exitCode !== null || server.signalCode !== null;
  await waitUntil(() => hasEnded() || isReady(folder, server.pid), { seconds: 60 });
  if (!hasEnded() && isReady(folder, server.pid)) return server;
  server.kill('SIGQUIT');
  throw new Error(`Postgres does not start: ${problem}${fs.readFileSync(logFile, 'utf8').slice(-2000)}`);
}

function spawning(account: Account): SpawnOptions {
  const env = { LC_ALL: 'C', TZ: 'UTC', PATH: process.env.PATH, PGSYSCONFDIR: '/nonexistent' };
  return { ...account, cwd: '/', env };
}

function isReady(folder: string, pid: number | undefined): boolean {
  const file = readServerFile(folder);
  const takesConnections = file?.state === 'ready' || file?.state === 'standby';
  return takesConnections && file.pid === pid;
}

/** Reads the file that Postgres keeps about itself while it runs. */
export function readServerFile(folder: string) {
  try {
    const lines = fs.readFileSync(join(folder, 'postmaster.pid'), 'utf8').split('\n');
    return { pid: Number(lines[0]), port: Number(lines[3]), state: lines[7]?.trim() };
  } catch {
    return undefined;
  }
}

/** Stops Postgres without waiting for clients. */
export async function stopCluster(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const ended = new Promise((resolve) => server.once('exit', resolve));
  server.kill('SIGINT');
  await ended;
}

/** The account that Postgres runs as; empty for the current account. */
export interface Account {
  readonly uid?: number;
  readonly gid?: number;
}

/** Finds an account for Postgres, which root may not run. The function creates no account. */
export function accountForPostgres(): Account {
  if (process.getuid?.() !== 0) return {};
  const accounts = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'));
  for (const wanted of ['postgres', 'nobody']) {
    const [, , uid, gid] = accounts.find(([name]) => name === wanted) ?? [];
    if (uid && gid) return { uid: Number(uid), gid: Number(gid) };
  }
  throw new Error('Root may not run Postgres, and there is no account without rights to run it as.');
}

export function giveTo({ uid, gid }: Account, path: string): void {
  if (uid !== undefined && gid !== undefined) chownSync(path, uid, gid);
}
