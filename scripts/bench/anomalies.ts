import { rmSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type pg from 'pg';
import { startServer, startStores } from '../../test/harness/servers.ts';
import { makeThrowAway, sweepThrowAways } from '../machine/throw-away.ts';
import { LATER, ORACLE, plantedOf, TRAFFIC } from './anomalies-traffic.ts';
import { openClient } from './client.ts';
import { familyMeterOf, meterOf, parentOf } from './cpu.ts';
import { demand, latenciesOf } from './load.ts';
import { openDatabase } from './servers.ts';
import { percent, table, whole } from './tables.ts';
import { signUp } from './tenants.ts';

/** Detection over generated traffic with planted anomalies: `npm run bench -- anomalies --entries 100000`. */
const { values: flags } = parseArgs({ options: { entries: { type: 'string', default: '100000' } } });
const ENTRIES = Number(flags.entries);
const AGENTS = 200;
const PAUSE = 10; // milliseconds between questions about health
const NEW_ENTRIES = 1000; // before the last run

const LENGTH = 'select count(*) as entries from audit_entries where developer_id = $1';

interface Anomaly {
  readonly type: string;
  readonly agentId: string;
}
const keyOf = ({ type, agentId }: Anomaly) => `${type} ${agentId}`;

await using cleanUp = new AsyncDisposableStack();
const stores = cleanUp.adopt(await startStores(), ({ stop }) => stop());
await sweepThrowAways('bench');
const folder = makeThrowAway('bench');
cleanUp.defer(() => rmSync(folder, { recursive: true, force: true }));
const server = cleanUp.adopt(await startServer(stores, { folder }), ({ stop }) => stop());
const db = cleanUp.adopt(await openDatabase(stores), (client) => client.end());
const { developerId, apiKey, grants } = await signUp(server.port, AGENTS);
const agentIds = grants.map(({ agentId }) => agentId);
const { rows: backends } = await db.query<{ pid: number }>('select pg_backend_pid() as pid');
const meters = { server: meterOf(server.pid), postgres: familyMeterOf(parentOf(backends[0]?.pid ?? 0)) };

await write(TRAFFIC, [developerId, agentIds, ENTRIES]);
const { rows: written } = await db.query<{ entries: string }>(LENGTH, [developerId]);
const first = await detect('a chain of eight days', Number(written[0]?.entries));
const planted = plantedOf(agentIds);
const truth = await trueNow(db);
const found = new Set(first.anomalies.map(keyOf));
const right = [...found].filter((key) => truth.has(key)).length;
const missed = planted.map(keyOf).filter((key) => !found.has(key));

const idle = await detect('nothing new', 0);
const late = agentIds.at(-1) ?? '';
await write(LATER, [developerId, late, NEW_ENTRIES]);
const second = await detect('a burst of one agent', NEW_ENTRIES);
const isSeen = second.anomalies.some(({ type, agentId }) => type === 'rate_spike' && agentId === late);

const rows = [first, idle, second].map((run) => [
  run.name,
  whole(run.entries),
  run.seconds.toFixed(2),
  whole(run.cpu.server),
  whole(run.cpu.postgres),
  run.health.p99.toFixed(1),
  run.health.longest.toFixed(1),
]);
process.stdout.write(
  `${[
    table(
      ['Run over', 'New entries', 'Seconds', 'Server CPU ms', 'Postgres CPU ms', 'Health p99 ms', 'longest'],
      rows,
    ),
    '',
    `True ${truth.size}, planted ${planted.length}, found ${found.size}.`,
    `Precision ${percent(right / found.size)}, recall ${percent(right / truth.size)}, planted and missed: ${missed.length}.`,
    `The burst was found by the next run: ${isSeen}. A run starts every ANOMALY_INTERVAL_SECONDS, and on request.`,
  ].join('\n')}\n`,
);

/** Writes entries as the database forbids to everybody but a superuser. */
async function write(statement: string, values: unknown[]): Promise<void> {
  await db.query('set session_replication_role = replica');
  for (const each of statement.split(';\n\n')) {
    const used = values.slice(0, Math.max(0, ...[...each.matchAll(/\$(\d)/g)].map(([, n]) => Number(n))));
    await db.query(each, used);
  }
  await db.query('reset session_replication_role');
  await db.query('vacuum analyze audit_entries');
}

/** Detects once, and asks for the health of the process meanwhile. */
async function detect(name: string, entries: number) {
  const [client, watcher] = [await openClient(server.port), await openClient(server.port)];
  const before = { server: meters.server(), postgres: meters.postgres() };
  const startedAt = performance.now();
  let isDone = false;
  const watching = (async () => {
    const times: number[] = [];
    while (!isDone) {
      const asked = performance.now();
      await demand(watcher, { method: 'GET', path: '/health' }, 200);
      times.push(performance.now() - asked);
      await delay(PAUSE);
    }
    return times;
  })();
  const path = '/v1/anomalies/detect';
  const answer = await demand(client, { method: 'POST', path, body: {}, apiKey }, 200);
  const seconds = (performance.now() - startedAt) / 1000;
  isDone = true;
  const times = await watching;
  for (const each of [client, watcher]) each.close();
  const { anomalies }: { anomalies: readonly Anomaly[] } = JSON.parse(answer.toString());
  const spent = (who: keyof typeof meters) => (meters[who]() - before[who]) * 1000;
  const cpu = { server: spent('server'), postgres: spent('postgres') };
  return {
    ...{ name, entries, seconds, cpu, anomalies },
    health: { p99: latenciesOf(times).p99, longest: Math.max(...times) },
  };
}

/** The anomalies by their definition, each counted over its whole window. */
async function trueNow(client: pg.Client): Promise<ReadonlySet<string>> {
  const { rows: all } = await client.query<Anomaly>(ORACLE, [developerId]);
  return new Set(all.map(keyOf));
}
