import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { makeThrowAway, waitUntil } from '../../../../scripts/machine/folders.ts';
import { freePort } from '../../../../scripts/machine/ports.ts';
import { accountForPostgres, giveTo } from '../../../../scripts/postgres/cluster.ts';
import { ask } from '../../../../test/crash/load.ts';
import { brokenChain, brokenGrants } from '../../../../test/crash/run-crash.ts';
import { startServer } from '../../../../test/harness/servers.ts';
import { findAgent } from '../../src/features/accounts/agents/agents.repo.ts';
import { openDatabase } from '../../src/platform/db/open-database.ts';
import { startReceiver } from '../app/receiving.ts';
import { newDatabase } from '../app/start-app.ts';
import { debianProgram } from '../servers/debian-program.ts';
import { execute } from '../servers/postgres.ts';
import { redisUrl } from '../servers/start-server.ts';
import { nothingSeen, work } from './fail-over-load.ts';

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
async function findPgbouncer() {
  const { path, libraries } = await debianProgram(DEBIAN);
  const env = { LD_LIBRARY_PATH: libraries.join(':') };
  const { stdout } = spawnSync(path, ['--version'], { encoding: 'utf8', env });
  const [, major, minor] = /PgBouncer (\d+)\.(\d+)/.exec(stdout ?? '') ?? [];
  const prepares =
    Number(major) > PREPARING[0] || (Number(major) === PREPARING[0] && Number(minor) >= PREPARING[1]);
  return { path, env, prepares };
}

interface Pooler {
  /** The address of the same database, through the pooler. */
  readonly url: string;
  readonly prepares: boolean;
}

/** A PgBouncer in transaction mode before a database. It ends with the test. */
async function pgbouncerBefore(databaseUrl: string, connections: number): Promise<Pooler> {
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

const CLIENTS = 24;
const ENTRIES = 200;
/** Fewer than the clients, so that a connection changes hands all the time. */
const CONNECTIONS = 3;

beforeAll(findPgbouncer, 300_000);

/** The schema is made by the first start. */
async function emptyDatabase(): Promise<string> {
  const url = await newDatabase();
  await execute(url, 'drop schema public cascade');
  await execute(url, 'create schema public');
  return url;
}

async function startInstance(databaseUrl: string, prepares: boolean) {
  const folder = mkdtempSync(join(tmpdir(), 'behest-pooler-'));
  const env = {
    PUBLIC_BASE_URL: 'http://auth.test', // one service, so one issuer
    DATABASE_PREPARED_STATEMENTS: String(prepares),
    WEBHOOK_ALLOW_PRIVATE_HOSTS: 'true',
  };
  const server = await startServer({ databaseUrl, redisUrl: redisUrl() }, { folder, env });
  onTestFinished(async () => {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  return `http://127.0.0.1:${server.port}`;
}

test('two instances migrate, serve and deliver through a PgBouncer in transaction mode', async () => {
  const { url, prepares } = await pgbouncerBefore(await emptyDatabase(), CONNECTIONS);
  const baseUrls = await Promise.all([startInstance(url, prepares), startInstance(url, prepares)]);
  const receiver = await startReceiver();
  const nobody = { baseUrl: baseUrls[0], apiKey: 'none' };
  const made = await ask(nobody, 'POST', '/v1/signup', { name: 'Acme', mode: 'sandbox' });
  const instances = baseUrls.map((baseUrl) => ({ baseUrl, apiKey: String(made?.body.apiKey) }));
  const webhook = { url: receiver.url, events: ['agent.created'] };
  const [first = nobody] = instances;
  expect((await ask(first, 'POST', '/v1/webhooks', webhook))?.status).toBe(201);
  const seen = nothingSeen();
  const ending = new AbortController();

  const clients = Array.from({ length: CLIENTS }, () => work({ instances, seen, signal: ending.signal }));
  const areAppended = await waitUntil(() => seen.entries.size >= ENTRIES, { seconds: 90 });
  ending.abort();
  await Promise.all(clients);

  expect(areAppended).toBe(true);
  expect(seen.faults).toEqual([]);
  expect([...seen.refusals.keys()]).toEqual(['400 INVALID_GRANT code_used']); // the load sends each code twice
  for (const account of instances) {
    expect(await brokenGrants(account, seen)).toEqual([]);
    expect(await brokenChain(account, seen)).toEqual([]);
  }
  await vi.waitFor(() => expect(receiver.received).toHaveLength(CLIENTS), {
    timeout: 20_000,
    interval: 50,
  });
}, 180_000);

test('look-ups that come together get their answers from a PgBouncer in transaction mode', async () => {
  const { url, prepares } = await pgbouncerBefore(await newDatabase(), CONNECTIONS);
  const db = openDatabase({ connectionString: url }, 10, undefined, { prepares });
  onTestFinished(() => db.destroy());
  /** Each has its own size, so that PgBouncer's reads end anywhere in a message. */
  const look = (_: unknown, n: number) => {
    const agentIds = Array.from({ length: n % 100 }, (_, at) => `ag_01K9Z3QW5M8T2V4X6Y7Z8A9B${at}`);
    return findAgent(db, { tenant: { developerId: 'dev_none' }, agentIds }, 'ag_none');
  };

  for (let round = 0; round < 10; round += 1) {
    const answers = await Promise.allSettled(Array.from({ length: 300 }, look));
    const failures = answers.flatMap((answer) => (answer.status === 'rejected' ? String(answer.reason) : []));
    expect(failures).toEqual([]);
  }
}, 60_000);
