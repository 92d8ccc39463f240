import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { waitUntil } from '../../../../scripts/machine/processes.ts';
import { type Account, ask, repeatUnanswered } from '../../../../test/crash/load.ts';
import { brokenChain, brokenGrants } from '../../../../test/crash/run-crash.ts';
import { type Server, startServer } from '../../../../test/harness/servers.ts';
import { newDatabase } from '../app/start-app.ts';
import { postgresPair } from '../servers/postgres-pair.ts';
import { redisPair } from '../servers/redis-cluster.ts';
import { redisUrl } from '../servers/redis-url.ts';
import { nothingSeen, type Seen, work } from './fail-over-load.ts';

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
