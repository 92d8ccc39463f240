import { spawnSync } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { type Server, startServer } from '../../test/harness/servers.ts';
import { median, run, type Summary, summaryOf } from './load.ts';
import type { Plan, Setting } from './options.ts';
import type { Flow, Measured } from './rounds.ts';
import type { Scene } from './scene.ts';

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
