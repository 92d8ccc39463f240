import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import fs, { accessSync, constants } from 'node:fs';
import { connect } from 'node:net';
import { delimiter, join } from 'node:path';
import { unpackProgram } from '../machine/debian.ts';
import { waitUntil } from '../machine/folders.ts';
import { freePort } from '../machine/ports.ts';

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

export interface ClusterNode extends RedisAccess {
  readonly busPort: number;
}

const SLOTS = 16_384;

export const slotsEach = (masters: number) => Math.ceil(SLOTS / masters);

/**
 * Makes one Redis Cluster of empty nodes that run: the first ones are masters, and the others in turn their replicas.
 * @throws when it does not form
 */
export async function formCluster(nodes: readonly ClusterNode[], count: number): Promise<void> {
  const [masters, replicas] = [nodes.slice(0, count), nodes.slice(count)];
  const each = slotsEach(count);
  for (const [at, node] of masters.entries()) {
    await ask(node, `CLUSTER ADDSLOTSRANGE ${at * each} ${Math.min((at + 1) * each, SLOTS) - 1}`);
    await ask(node, `CLUSTER SET-CONFIG-EPOCH ${at + 1}`);
  }
  const [first, ...others] = nodes;
  if (!first) throw new Error('The cluster has no nodes.');
  for (const node of others) await ask(first, `CLUSTER MEET 127.0.0.1 ${node.port} ${node.busPort}`);
  const mustBecome = async (isTrue: (node: ClusterNode) => Promise<boolean>, some = nodes) => {
    const areAll = async () => (await Promise.all(some.map(isTrue))).every(Boolean);
    if (!(await waitUntil(areAll, { seconds: 20 }))) throw new Error('The Redis Cluster does not form.');
  };
  await mustBecome(
    async (node) =>
      /cluster_state:ok/.test(await ask(node, 'CLUSTER INFO')) &&
      (await ask(node, 'CLUSTER NODES')).split(' connected').length > nodes.length,
  );
  for (const [at, replica] of replicas.entries()) {
    const id = /[0-9a-f]{40}/.exec(await ask(masters[at % count] ?? first, 'CLUSTER MYID'))?.[0];
    await ask(replica, `CLUSTER REPLICATE ${id}`);
  }
  await mustBecome(isLinked, replicas);
}

/** Tells whether a replica has what its master has. */
export const isLinked = async (node: RedisAccess): Promise<boolean> =>
  (await ask(node, 'INFO replication')).includes('master_link_status:up');

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
