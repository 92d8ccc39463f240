import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import fs, { accessSync, constants } from 'node:fs';
import { connect } from 'node:net';
import { delimiter, join } from 'node:path';
import { unpackProgram } from '../machine/debian.ts';
import { freePort } from '../machine/ports.ts';
import { waitUntil } from '../machine/processes.ts';

/** The facts by which a later process reaches a Redis in a folder of the checkout. */
export interface RedisAccess {
  readonly port: number;
  readonly password: string;
}

const PORT_ATTEMPTS = 5; // another process may have taken the free port

export const newPassword = (): string => randomBytes(24).toString('base64url');

/** @throws with the end of its log when it does not answer. */
export async function startRedis(
  program: RedisProgram,
  folder: string,
  settings: readonly string[] = [],
  password = newPassword(),
): Promise<RedisAccess> {
  for (let attempt = 1; ; attempt += 1) {
    const access = { port: await freePort(), password };
    const log = join(folder, 'log');
    const server = launch(program, { folder, access, log, settings });
    if (await isUp(server, access)) {
      fs.writeFileSync(join(folder, 'access'), JSON.stringify(access), { mode: 0o600 });
      server.unref();
      return access;
    }
    server.kill('SIGKILL');
    if (attempt === PORT_ATTEMPTS)
      throw new Error(`Redis does not start: ${fs.readFileSync(log, 'utf8').slice(-2000)}`);
  }
}

interface Launch {
  readonly folder: string;
  readonly access: RedisAccess;
  readonly log: string;
  readonly settings: readonly string[];
}

/**
 * Starts Redis with its configuration on stdin, because every account could see a password on the command line.
 */
function launch(program: RedisProgram, { folder, access, log, settings }: Launch): ChildProcess {
  const output = fs.openSync(log, 'w', 0o600);
  const server = spawn(program.path, ['-'], {
    cwd: folder,
    detached: true,
    stdio: ['pipe', output, output],
    env: { PATH: process.env.PATH, LD_LIBRARY_PATH: program.libraries.join(':') },
  });
  fs.closeSync(output);
  const configuration = [
    `port ${access.port}`,
    'bind 127.0.0.1',
    `requirepass ${access.password}`,
    'save ""',
    'appendonly no',
    'maxmemory-policy noeviction',
    `dir ${folder}`,
    ...settings,
  ];
  server.stdin?.on('error', () => {}); // Redis ended before it read; `isUp` sees that
  server.stdin?.end(`${configuration.join('\n')}\n`);
  return server;
}

async function isUp(server: ChildProcess, access: RedisAccess): Promise<boolean> {
  let failed = false;
  server.once('error', () => {
    failed = true;
  });
  const hasEnded = () => failed || server.exitCode !== null || server.signalCode !== null;
  await waitUntil(async () => hasEnded() || (await answers(access)), { seconds: 10 });
  return !hasEnded();
}

/** Finds the Redis of this folder, if it still runs. */
export async function findRunning(folder: string): Promise<RedisAccess | undefined> {
  try {
    const access: RedisAccess = JSON.parse(fs.readFileSync(join(folder, 'access'), 'utf8'));
    return (await answers(access)) ? access : undefined;
  } catch {
    return undefined; // Redis was never started, or was killed during the write
  }
}

export async function stopRedis(access: RedisAccess): Promise<void> {
  await ask(access, 'SHUTDOWN NOSAVE').catch(() => {});
  await waitUntil(async () => !(await answers(access)), { seconds: 5 });
}

async function answers(access: RedisAccess): Promise<boolean> {
  return (await ask(access, 'PING').catch(() => '')).includes('+PONG');
}

/** Sends one command without a client library. */
export function ask({ port, password }: RedisAccess, command: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = '';
    const connection = connect(port, '127.0.0.1', () =>
      connection.write(`AUTH ${password}\r\n${command}\r\nQUIT\r\n`),
    );
    connection.setTimeout(2_000, () => connection.destroy(new Error('Redis does not answer.')));
    connection.setEncoding('utf8').on('data', (text) => {
      answer += text;
    });
    connection.once('close', () => resolve(answer)).once('error', reject);
  });
}

export function redisUrl({ port, password }: RedisAccess): string {
  return `redis://:${password}@127.0.0.1:${port}`;
}

interface RedisProgram {
  readonly path: string;
  readonly origin: 'installed' | 'unpacked';
  /** Folders of libraries that the system may lack. */
  readonly libraries: readonly string[];
}

const PACKAGES = ['redis-server', 'redis-tools', 'libjemalloc2', 'liblzf1', 'libatomic1'];

const DEBIAN = {
  name: 'redis',
  path: 'usr/bin/redis-server',
  // A very bare system lacks the library of TLS besides, under the names of different releases.
  packages: [PACKAGES, [...PACKAGES, 'libssl3'], [...PACKAGES, 'libssl3t64']],
  flags: ['--version'],
} as const;

/**
 * Finds a Redis, because no npm package has one.
 * @returns undefined when this machine has no Redis and can get none
 */
export async function findRedis(home: string, beforeFetching = () => {}): Promise<RedisProgram | undefined> {
  for (const name of ['redis-server', 'valkey-server']) {
    const path = (process.env.PATH ?? '')
      .split(delimiter)
      .map((folder) => join(folder, name))
      .find(isProgram);
    if (path) return { path, origin: 'installed', libraries: [] };
  }
  const unpacked = await unpackProgram(DEBIAN, home, beforeFetching);
  return unpacked && { path: unpacked.path, origin: 'unpacked', libraries: unpacked.libraries };
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
