import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { makeThrowAway } from '../../../../scripts/machine/folders.ts';
import { freePort } from '../../../../scripts/machine/ports.ts';
import { waitUntil } from '../../../../scripts/machine/processes.ts';
import { accountForPostgres, giveTo } from '../../../../scripts/postgres/cluster.ts';
import { debianProgram } from './debian-program.ts';

const DEBIAN = {
  name: 'pgbouncer',
  path: 'usr/sbin/pgbouncer',
  packages: [
    ['pgbouncer', 'libc-ares2', 'libevent-2.1-7'],
    ['pgbouncer', 'libcares2', 'libevent-2.1-7t64'],
  ],
  flags: ['--version'],
} as const;

/** The first version whose clients may prepare statements, in transaction mode. */
const PREPARING = [1, 21] as const;

/** Fetches the pooler where the machine has none, which may take a minute. */
export async function findPgbouncer() {
  const { path, libraries } = await debianProgram(DEBIAN);
  const env = { LD_LIBRARY_PATH: libraries.join(':') };
  const { stdout } = spawnSync(path, ['--version'], { encoding: 'utf8', env });
  const [, major, minor] = /PgBouncer (\d+)\.(\d+)/.exec(stdout ?? '') ?? [];
  const prepares =
    Number(major) > PREPARING[0] || (Number(major) === PREPARING[0] && Number(minor) >= PREPARING[1]);
  return { path, env, prepares };
}

export interface Pooler {
  /** The address of the same database, through the pooler. */
  readonly url: string;
  readonly prepares: boolean;
}

/** A PgBouncer in transaction mode before a database. It ends with the test. */
export async function pgbouncerBefore(databaseUrl: string, connections: number): Promise<Pooler> {
  const { path, env, prepares } = await findPgbouncer();
  const home = makeThrowAway('pooler');
  const account = accountForPostgres();
  const { hostname, port: serverPort, username, password, pathname } = new URL(databaseUrl);
  const port = await freePort();
  const settings = join(home, 'pgbouncer.ini');
  const users = join(home, 'users.txt');
  const lines = [
    '[databases]',
    `* = host=${hostname} port=${serverPort || 5432}`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${port}`,
    'unix_socket_dir =',
    'auth_type = scram-sha-256',
    `auth_file = ${users}`,
    'pool_mode = transaction',
    `default_pool_size = ${connections}`,
    ...(prepares ? ['max_prepared_statements = 200'] : []),
  ];
  writeFileSync(settings, lines.join('\n'), { mode: 0o600 });
  writeFileSync(users, `"${username}" "${decodeURIComponent(password)}"\n`, { mode: 0o600 });
  for (const file of [settings, users]) giveTo(account, file);
  const pooler = spawn(path, ['-q', settings], {
    ...account,
    cwd: '/',
    stdio: 'ignore',
    env,
  });
  onTestFinished(async () => {
    await end(pooler);
    rmSync(home, { recursive: true, force: true });
  });
  if (!(await waitUntil(() => answersAt(port), { seconds: 20 })))
    throw new Error('PgBouncer does not start.');
  return { url: `postgres://${username}:${password}@127.0.0.1:${port}${pathname}`, prepares };
}

function answersAt(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}

async function end(pooler: ChildProcess): Promise<void> {
  if (pooler.exitCode !== null || pooler.signalCode !== null) return;
  const ended = new Promise((resolve) => pooler.once('exit', resolve));
  pooler.kill('SIGQUIT');
  await ended;
}
