import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { waitUntil } from '../../../../scripts/machine/processes.ts';
import { ask } from '../../../../test/crash/load.ts';
import { brokenChain, brokenGrants } from '../../../../test/crash/run-crash.ts';
import { startServer } from '../../../../test/harness/servers.ts';
import { findAgent } from '../../src/features/accounts/agents/agents.repo.ts';
import { openDatabase } from '../../src/platform/db/open-database.ts';
import { startReceiver } from '../app/receiver.ts';
import { newDatabase } from '../app/start-app.ts';
import { findPgbouncer, pgbouncerBefore } from '../servers/pgbouncer.ts';
import { execute } from '../servers/postgres.ts';
import { redisUrl } from '../servers/redis-url.ts';
import { nothingSeen, work } from './fail-over-load.ts';

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
