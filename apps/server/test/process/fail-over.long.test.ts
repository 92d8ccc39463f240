import { type ChildProcess, execFileSync } from 'node:child_process';
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { makeThrowAway, signal, waitUntil } from '../../../../scripts/machine/folders.ts';
import { freePort } from '../../../../scripts/machine/ports.ts';
import {
  accountForPostgres,
  createCluster,
  giveTo,
  newPassword,
  startCluster,
  USER,
} from '../../../../scripts/postgres/cluster.ts';
import { postgresPrograms } from '../../../../scripts/postgres/programs.ts';
import { type Account, ask, repeatUnanswered } from '../../../../test/crash/load.ts';
import { brokenChain, brokenGrants } from '../../../../test/crash/run-crash.ts';
import { type Server, startServer } from '../../../../test/harness/servers.ts';
import { newDatabase } from '../app/start-app.ts';
import { childrenOf } from '../servers/own-servers.ts';
import { execute } from '../servers/postgres.ts';
import { redisPair } from '../servers/redis-cluster.ts';
import { relayTo } from '../servers/relay.ts';
import { redisUrl } from '../servers/start-server.ts';
import { nothingSeen, type Seen, work } from './fail-over-load.ts';

const ROOT = join(import.meta.dirname, '../../../..');
const STANDBY = 'standby';

/** A kill of the server keeps what it wrote, because the system holds it and does not crash here. */
const SETTINGS = { fsync: 'off', full_page_writes: 'off', autovacuum: 'off' };

/** The standby has every acknowledged commit. Without these settings the primary does not wait for it. */
const SYNCHRONOUS = { synchronous_standby_names: STANDBY, synchronous_commit: 'remote_apply' };

/** A primary and its streaming standby, with one address for both. They end with the test. */
async function postgresPair({ isSynchronous }: { readonly isSynchronous: boolean }) {
  const home = makeThrowAway('pair');
  const servers: ChildProcess[] = [];
  onTestFinished(async () => {
    await Promise.all(servers.map(killAll));
    rmSync(home, { recursive: true, force: true });
  });
  const account = accountForPostgres();
  const programs = postgresPrograms(ROOT, account);
  const [password, port, standbyPort] = [newPassword(), await freePort(), await freePort()];
  const [first, second] = [join(home, 'primary'), join(home, STANDBY)];
  createCluster({ folder: first, account, programs }, password);
  // The base backup of a server before its first start: a copy. The package has no pg_basebackup.
  execFileSync('cp', ['-a', first, second]);
  writeFileSync(join(second, 'standby.signal'), '');
  giveTo(account, join(second, 'standby.signal'));
  const source = `host=127.0.0.1 port=${port} user=${USER} password=${password} application_name=${STANDBY}`;
  appendFileSync(join(second, 'postgresql.auto.conf'), `primary_conninfo = '${source}'\n`);

  const start = async (folder: string, at: number, settings = {}) => {
    const logFile = `${folder}.log`;
    const all = { ...SETTINGS, ...settings };
    const server = await startCluster({ folder, account, programs }, at, { settings: all, logFile });
    servers.push(server);
    return server;
  };
  const urlAt = (at: number) => `postgres://${USER}:${password}@127.0.0.1:${at}/postgres`;
  const primary = await start(first, port, isSynchronous ? SYNCHRONOUS : {});
  await start(second, standbyPort);
  const streams = async () =>
    ((await execute(urlAt(port), 'select from pg_stat_replication')).rowCount ?? 0) > 0;
  if (!(await waitUntil(streams, { seconds: 20 }))) throw new Error('The standby does not stream.');

  let current = port;
  const relay = await relayTo(() => current);
  onTestFinished(() => relay.close());
  return {
    url: urlAt(relay.port),
    /** Ends all processes of the primary at once, as the loss of its machine does. */
    killPrimary: () => killAll(primary),
    /** Leads new connections to the standby, promoted or not. */
    leadToStandby: () => {
      current = standbyPort;
    },
    promote: () => execute(urlAt(standbyPort), 'select pg_promote()'),
    /** Ends the stream to the standby, which then lacks later commits. */
    async cutOff() {
      await execute(urlAt(standbyPort), 'alter system reset primary_conninfo');
      await execute(urlAt(standbyPort), 'select pg_reload_conf()');
      if (!(await waitUntil(async () => !(await streams()), { seconds: 20 })))
        throw new Error('The standby still streams.');
    },
  };
}

async function killAll(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const ended = new Promise((resolve) => server.once('exit', resolve));
  const pid = server.pid ?? 0;
  for (const each of [pid, ...childrenOf(pid)]) signal(each, 'SIGKILL');
  await ended;
}

const CLIENTS = 6;
/** From the promotion until both instances work, without a restart. */
const RECOVERY_SECONDS = 5;

/** Two instances, and a developer who knows both. They end with the test. */
async function startTwo(stores: { readonly databaseUrl: string; readonly redisUrl: string }) {
  const folder = mkdtempSync(join(tmpdir(), 'behest-fail-over-'));
  const servers: Server[] = [];
  onTestFinished(async () => {
    await Promise.all(servers.map(({ kill }) => kill()));
    rmSync(folder, { recursive: true, force: true });
  });
  const env = { PUBLIC_BASE_URL: 'http://auth.test' }; // one service, so one issuer
  for (const name of ['one', 'two'])
    servers.push(await startServer(stores, { folder: join(folder, name), env }));
  const urls = servers.map(({ port }) => `http://127.0.0.1:${port}`);
  const signup = { name: 'Acme', mode: 'sandbox' };
  const made = await ask({ baseUrl: urls[0] ?? '', apiKey: 'none' }, 'POST', '/v1/signup', signup);
  const instances = urls.map((baseUrl): Account => ({ baseUrl, apiKey: made?.body.apiKey }));
  const areBothWell = async () =>
    (await Promise.all(urls.map((url) => fetch(`${url}/health`)))).every(({ ok }) => ok);
  const areAlive = () => servers.every(({ exitCode }) => exitCode() === null);
  return { instances, areBothWell, areAlive };
}

type Two = Awaited<ReturnType<typeof startTwo>>;

/** Lets clients work before, during and after an event. @returns their observations */
async function underLoad({ instances }: Two, during: () => Promise<void>): Promise<Seen> {
  const seen = nothingSeen();
  const ending = new AbortController();
  const clients = Array.from({ length: CLIENTS }, () => work({ instances, seen, signal: ending.signal }));
  const working = Promise.all(clients);
  const goesOn = async () => {
    const aim = seen.entries.size + 4 * CLIENTS;
    const isThere = waitUntil(() => seen.entries.size >= aim, { seconds: 30 });
    if (!(await Promise.race([isThere, working]))) throw new Error('No more writes are acknowledged.');
  };
  try {
    await goesOn();
    await during();
    await goesOn();
  } finally {
    ending.abort();
    await working;
  }
  return seen;
}

/** Both instances agree that everything acknowledged is there once. */
async function brokenAt({ instances }: Two, seen: Seen): Promise<string[]> {
  const broken: string[] = [];
  for (const account of instances) await repeatUnanswered(account, seen);
  if (seen.unanswered.size > 0) broken.push('an entry is refused with its key');
  for (const account of instances) {
    broken.push(...(await brokenGrants(account, seen)), ...(await brokenChain(account, seen)));
    for (const token of seen.ended) {
      const verdict = await ask(account, 'POST', '/v1/tokens/verify', { token });
      if (verdict?.body.reason !== 'revoked') broken.push('a revoked token is good again');
    }
  }
  return broken;
}

/** @returns the seconds until both instances are well */
async function recovery({ areBothWell }: Two): Promise<number> {
  const begun = performance.now();
  await waitUntil(areBothWell, { seconds: 30 });
  return (performance.now() - begun) / 1000;
}

async function startOnPair({ isSynchronous }: { isSynchronous: boolean }) {
  const postgres = await postgresPair({ isSynchronous });
  return { postgres, two: await startTwo({ databaseUrl: postgres.url, redisUrl: redisUrl() }) };
}

describe('a fail-over of Postgres under load', () => {
  test('to a synchronous standby loses nothing acknowledged, and both instances go on', async () => {
    const { postgres, two } = await startOnPair({ isSynchronous: true });
    let seconds = Number.POSITIVE_INFINITY;

    const seen = await underLoad(two, async () => {
      await postgres.killPrimary();
      await pause(500);
      postgres.leadToStandby();
      await pause(1500); // the standby answers reads and refuses writes
      expect(await two.areBothWell()).toBe(false);
      await postgres.promote();
      seconds = await recovery(two);
    });

    expect(seen.faults).toEqual([]);
    expect([...seen.refusals.keys()]).toContain('503 SERVICE_UNAVAILABLE db');
    expect(seconds).toBeLessThan(RECOVERY_SECONDS);
    expect(seen.slowest).toBeLessThan(12_000);
    expect(seen.revoked.size).toBeGreaterThan(0);
    expect(await brokenAt(two, seen)).toEqual([]);
    expect(seen.repeated).toBeGreaterThan(0);
    expect(two.areAlive()).toBe(true);
  }, 60_000);

  test('to a standby that lacks the last commits is seen as a loss', async () => {
    const { postgres, two } = await startOnPair({ isSynchronous: false });

    const seen = await underLoad(two, async () => {
      await postgres.cutOff();
      await pause(500);
      await postgres.killPrimary();
      await postgres.promote();
      postgres.leadToStandby();
      await recovery(two);
    });

    expect((await brokenAt(two, seen)).filter((each) => each.endsWith('is lost')).length).toBeGreaterThan(0);
  }, 60_000);
});

test('a fail-over of Redis under load loses only codes, and both instances go on', async () => {
  const redis = await redisPair();
  const two = await startTwo({ databaseUrl: await newDatabase(), redisUrl: redis.url });
  let seconds = Number.POSITIVE_INFINITY;

  const seen = await underLoad(two, async () => {
    redis.killPrimary();
    await pause(500);
    redis.leadToReplica();
    await pause(1500); // the replica refuses writes
    expect(await two.areBothWell()).toBe(false);
    await redis.promote();
    seconds = await recovery(two);
  });

  expect(seen.faults).toEqual([]);
  expect([...seen.refusals.keys()]).toContain('503 SERVICE_UNAVAILABLE redis');
  expect(seen.refusals.has('503 SERVICE_UNAVAILABLE db')).toBe(false);
  expect(seconds).toBeLessThan(RECOVERY_SECONDS);
  expect(seen.revoked.size).toBeGreaterThan(0);
  expect(await brokenAt(two, seen)).toEqual([]);
  expect(two.areAlive()).toBe(true);
}, 60_000);
