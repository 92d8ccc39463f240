import { demand, median, type Operation, type Round, run, type Summary, summaryOf } from './load.ts';
import type { Meter } from './machine.ts';
import type { Plan, Setting } from './options.ts';

export interface Target {
  readonly port: number;
  readonly meters: Readonly<Record<string, Meter>>;
}

export interface Measured {
  readonly flow: Flow;
  readonly summary: Summary;
  readonly floor: Summary;
  /** The flow's rate by its floor's in the same round, the median of the rounds. */
  readonly share: number;
  /** The rate of the flow beside which it is measured by its own, the median of the rounds in which both ran. */
  readonly dearer?: number;
}

interface Course extends Target {
  readonly key: string;
  readonly prepare?: (() => Promise<void>) | undefined;
  readonly operation: (connection: number) => Operation;
}

/**
 * Runs one round of each flow and floor before the next round of any, so that a disturbance of the machine
 * affects all of them.
 */
export async function measureInTurns(
  flows: readonly Flow[],
  { service, floor }: Readonly<Record<'service' | 'floor', Target>>,
  { plan, setting, say }: { plan: Plan; setting: Setting; say: (line: string) => void },
): Promise<Measured[]> {
  const floorCourse = (name: Floor) => ({
    ...floor,
    key: `floor ${name}`,
    operation: floorOperation(name, setting.developers),
  });
  const courses: Course[] = flows.flatMap(({ name, floor: below, ...flow }, each) => {
    const isFirst = flows.findIndex((other) => other.floor === below) === each;
    return [...(isFirst ? [floorCourse(below)] : []), { ...service, ...flow, key: name }];
  });
  const rounds = new Map<string, Round[]>(courses.map(({ key }) => [key, []]));
  for (let round = 0; round <= plan.rounds; round += 1) {
    const seconds = round === 0 ? plan.warmUp : plan.seconds;
    for (const { key, prepare, ...load } of courses) {
      await prepare?.();
      const result = await run({ ...load, seconds, connections: setting.connections });
      if (round > 0) rounds.get(key)?.push(result);
    }
    if (round > 0) say(`round ${round} of ${plan.rounds}`);
  }
  return flows.map((flow) => {
    const own = rounds.get(flow.name) ?? [];
    const below = rounds.get(`floor ${flow.floor}`) ?? [];
    const share = median(own.map((round, each) => rateOf(round) / rateOf(below[each])));
    const native = flow.beside === undefined ? undefined : rounds.get(flow.beside);
    const dearer = native && median(own.map((round, each) => rateOf(native[each]) / rateOf(round)));
    return { flow, summary: summaryOf(own), floor: summaryOf(below), share, ...(dearer && { dearer }) };
  });
}

const rateOf = (round?: Round) => (round ? round.operations / round.seconds : Number.NaN);

/** One use of the service, measured with many at once. */
export interface Flow {
  readonly name: string;
  /** The name of one operation. */
  readonly unit: string;
  /** The route that shows what the same work costs without the service. */
  readonly floor: Floor;
  /** The least share of the floor's rate that satisfies. */
  readonly aim: number;
  /** The native flow that does the same, which is measured in the same run. */
  readonly beside?: string;
  /** Runs before each round, unmeasured. */
  readonly prepare?: () => Promise<void>;
  readonly operation: (connection: number) => Operation;
}

/** The routes of `floor-server.ts`, each with the name that the results give it. */
export const floors = {
  bare: 'bare route',
  select: 'Redis and a prepared select',
  verify: 'Redis, a prepared select and an RSA verification',
  append: 'one statement that appends to a chain',
  unseal: 'a prepared select, AES-GCM, and one statement that appends to a chain',
  sign: 'four rows in one statement and a pooled RSA signature',
} as const;

export type Floor = keyof typeof floors;

/** @param developers each has a chain of its own */
export function floorOperation(floor: Floor, developers: number) {
  return (connection: number): Operation => {
    const hasChain = floor === 'append' || floor === 'unseal';
    const path = hasChain ? `/${floor}/d${connection % developers}` : `/${floor}`;
    return (client) => demand(client, { method: 'GET', path }, 200);
  };
}
