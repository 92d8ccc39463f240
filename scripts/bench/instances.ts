import { spawnSync } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { type Server, startServer } from '../../test/harness/servers.ts';
import { openClient } from './client.ts';
import { demand, latenciesOf, median, run, type Summary, summaryOf } from './load.ts';
import type { Plan, Setting } from './options.ts';
import type { Flow, Measured } from './rounds.ts';
import type { Scene } from './scene.ts';
import { makeGrants, NEW_ULID, signUp } from './tenants.ts';

interface Together {
  readonly name: string;
  readonly one: number;
  readonly all: number;
}

export interface Instances {
  readonly count: number;
  /** The cores of the processes, in words. */
  readonly pinned: string;
  readonly flows: readonly Together[];
}

/**
 * Measures one instance and then several on the same database and Redis, in turns. Each instance has a core of
 * its own where `taskset` can give it one; the stores and the driver have those that are left.
 */
export async function measureInstances(
  scene: Scene,
  measured: readonly Measured[],
  { count, plan, setting }: { count: number; plan: Plan; setting: Setting },
): Promise<Instances> {
  await using cleanUp = new AsyncDisposableStack();
  const servers: Server[] = [scene.server];
  while (servers.length < count) {
    const { stores, folder, server } = scene;
    const env = { PUBLIC_BASE_URL: `http://localhost:${server.port}` }; // instances of one service have one issuer
    servers.push(cleanUp.adopt(await startServer(stores, { folder, env }), ({ stop }) => stop()));
  }
  const pinned = pin(servers, cleanUp);
  const rates = new Map(
    measured.map(({ flow }) => [flow.name, { one: [] as number[], all: [] as number[] }]),
  );
  for (let round = 0; round <= plan.rounds; round += 1) {
    const seconds = round === 0 ? plan.warmUp : plan.seconds;
    for (const { flow } of measured) {
      const load = { seconds, connections: setting.connections, meters: {} };
      const rateWith = async (some: readonly Server[]) => {
        await flow.prepare?.();
        const rounds = await Promise.all(
          some.map(({ port }, each) => {
            const first = each * setting.connections; // instances share no token that is spent
            return run({ ...load, port, operation: (connection) => flow.operation(first + connection) });
          }),
        );
        return rounds.reduce((sum, { operations, seconds: lasted }) => sum + operations / lasted, 0);
      };
      const [one, all] = [await rateWith(servers.slice(0, 1)), await rateWith(servers)];
      if (round === 0) continue;
      rates.get(flow.name)?.one.push(one);
      rates.get(flow.name)?.all.push(all);
    }
  }
  const flows = [...rates].map(([name, { one, all }]) => ({ name, one: median(one), all: median(all) }));
  return { count, pinned, flows };
}

function pin(servers: readonly Server[], cleanUp: AsyncDisposableStack): string {
  const cores = availableParallelism();
  if (cores < servers.length) return 'nothing is pinned: there are fewer cores than instances';
  const taskset = (list: string, pid: number) =>
    spawnSync('taskset', ['-acp', list, String(pid)], { stdio: 'ignore' }).status === 0;
  const every = `0-${cores - 1}`;
  if (!servers.every(({ pid }, each) => taskset(String(each), pid))) return 'nothing is pinned: no taskset';
  cleanUp.defer(() => void taskset(every, servers[0]?.pid ?? 0));
  if (cores === servers.length)
    return 'each instance on a core of its own, which it shares with the stores and the driver';
  taskset(`${servers.length}-${cores - 1}`, process.pid);
  cleanUp.defer(() => void taskset(every, process.pid));
  return 'each instance on a core of its own, the driver on the others';
}

const MILLION = 1_000_000;

/** The cost of a million authorizations with their tokens. */
export interface Million {
  /** Hours of one core, by process. */
  readonly hours: Summary['cpu'];
  readonly gigabytes: number;
}

/** Measures what one of a flow costs, and the disk that its rows and their indexes take. */
export async function measureMillion(
  { db, service }: Scene,
  flow: Flow,
  { plan, setting }: { plan: Plan; setting: Setting },
): Promise<Million> {
  const size = async () => Number((await db.query<{ bytes: string }>(SIZE)).rows[0]?.bytes);
  const before = await size();
  const { connections } = setting;
  const round = await run({ ...service, ...flow, connections, seconds: plan.seconds * plan.rounds });
  const bytes = ((await size()) - before) / round.operations;
  const { cpu } = summaryOf([round]);
  const hours = Object.entries(cpu).map(([who, ms]) => [who, (ms * MILLION) / 3_600_000]);
  return { hours: Object.fromEntries(hours), gigabytes: (bytes * MILLION) / 1e9 };
}

const SIZE = `select sum(pg_total_relation_size(oid)) as bytes from pg_class
  where relnamespace = 'public'::regnamespace and relkind = 'r'`;

const BATCH = 50_000; // rows in one statement
const PAUSE = 10; // milliseconds between questions, because each costs the process time too
const LONGEST = 300; // seconds until the jobs have to be done

export interface Health {
  readonly rows: number;
  readonly asked: number;
  readonly p99: number;
  readonly longest: number;
  readonly seconds: number;
}

/**
 * Leaves rows for the jobs, as after a long stop: grants and requests that ran out, and events past their
 * retention. Then it starts an instance, whose jobs begin at once, and asks for its health until they are done.
 * @param rows the count of each kind
 */
export async function watchHealth(scene: Scene, rows: number): Promise<Health> {
  const { db, stores, folder } = scene;
  const { developerId, grants } = await signUp(scene.server.port, 1);
  const grantId = grants[0]?.grantId ?? '';
  for (let done = 0; done < rows; done += BATCH) {
    const count = Math.min(BATCH, rows - done);
    await makeGrants(db, grantId, count);
    await db.query(DUE_REQUESTS, [developerId, count]);
    await db.query(OLD_EVENTS, [developerId, count]);
  }
  await db.query(AGE_EVENTS, [developerId]);
  await db.query(RUN_OUT, [developerId]);
  await db.query('vacuum analyze');

  const server = await startServer(stores, { folder });
  const startedAt = performance.now();
  const times: number[] = [];
  try {
    const client = await openClient(server.port);
    for (let isDone = false; !isDone; ) {
      for (let each = 0; each < 50; each += 1) {
        const asked = performance.now();
        await demand(client, { method: 'GET', path: '/health' }, 200);
        times.push(performance.now() - asked);
        await delay(PAUSE);
      }
      isDone = (await db.query<{ left: string }>(LEFT, [developerId])).rows[0]?.left === '0';
      if (performance.now() - startedAt > LONGEST * 1000) throw new Error('The jobs do not end.');
    }
    client.close();
  } finally {
    await server.stop();
  }
  return {
    rows,
    asked: times.length,
    p99: latenciesOf(times).p99,
    longest: Math.max(...times),
    seconds: (performance.now() - startedAt) / 1000,
  };
}

const DUE_REQUESTS = `
  insert into auth_requests
  select copy.* from generate_series(1, $2::integer) each, auth_requests t, jsonb_populate_record(t, jsonb_build_object(
    'id', 'areq_' || ${NEW_ULID}, 'status', 'pending', 'created_at', now() - interval '2 days',
    'expires_at', now() - interval '1 day', 'consent_method', null, 'decided_at', null, 'code_expires_at', null)) copy
  where t.developer_id = $1
    and t.id = (select min(id) from auth_requests where developer_id = $1 and status = 'consumed')`;

const OLD_EVENTS = `
  with head as (
    update audit_heads set event_seq = event_seq + $2 where developer_id = $1 returning event_seq - $2 as start
  )
  insert into outbox_events (developer_id, seq, id, type, envelope, created_at)
  select $1, start + each, 'evt_' || ${NEW_ULID}, 'grant.created', '{}', now() - interval '400 days'
  from head, generate_series(1, $2::integer) each`;

/** The oldest event of a developer tells whether there are any, so all of them are old. */
const AGE_EVENTS = `update outbox_events set created_at = now() - interval '400 days' where developer_id = $1`;

const RUN_OUT = `update grants set issued_at = now() - interval '2 days', expires_at = now() - interval '1 day'
  where developer_id = $1`;

const LEFT = `
  select (select count(*) from grants
      where developer_id = $1 and status = 'active' and expiry_announced_at is null and expires_at <= now())
    + (select count(*) from auth_requests where developer_id = $1 and status = 'pending')
    + (select count(*) from outbox_events where developer_id = $1 and created_at < now() - interval '399 days')
    as left`;
