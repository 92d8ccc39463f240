import type { Flow } from './flow.ts';
import { run, type Summary, summaryOf } from './load.ts';
import type { Plan, Setting } from './options.ts';
import type { Scene } from './scene.ts';

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
