import { parseArgs } from 'node:util';

export const USAGE = `npm run bench -- flows [options]
  --quick                 short rounds of each flow, in about a minute
  --only <text>           flows whose name holds the text, and those that they are measured beside
  --connections <n,n,…>   kept open at once, 16 unless said; the first is what everything else is measured with
  --developers <n,n,…>    whose keys the connections use in turns, 1 unless said
  --rows <n,n,…>          grants, tokens, requests, agents and audit entries of the developer beforehand, 0 unless said
  --open-loop             requests that come by the clock, at half of the highest rate
  --health <rows>         asks for the health while jobs work off that many rows of each kind; 100000 is usual
  --instances <n>         together, against one alone
  --sync <ms>             makes each synced write of Postgres take that much longer, as on a slower disk; needs strace
  --profile <dir>         writes a CPU profile there for each flow that misses its aim, and prints its dearest names
  --note <text>           what else the machine was doing, for the results
  --write                 writes scripts/bench/RESULTS.md
`;

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string', default: '' },
    connections: { type: 'string', default: '16' },
    developers: { type: 'string', default: '1' },
    rows: { type: 'string', default: '0' },
    'open-loop': { type: 'boolean', default: false },
    health: { type: 'string', default: '0' },
    instances: { type: 'string', default: '1' },
    sync: { type: 'string', default: '0' },
    profile: { type: 'string' },
    note: { type: 'string', default: '' },
    write: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

const numbers = (text: string): readonly [number, ...number[]] => {
  const [first = Number.NaN, ...others] = text.split(',').map(Number);
  if (![first, ...others].every(Number.isSafeInteger)) throw new Error(`These are no numbers: ${text}.`);
  return [first, ...others];
};

export const options = {
  ...values,
  connections: numbers(values.connections),
  developers: numbers(values.developers),
  rows: numbers(values.rows),
  health: Number(values.health),
  instances: Number(values.instances),
  sync: Number(values.sync),
};

export interface Plan {
  readonly rounds: number;
  readonly seconds: number;
  readonly warmUp: number;
}

export const plan: Plan = values.quick
  ? { rounds: 3, seconds: 0.6, warmUp: 0.4 }
  : { rounds: 5, seconds: 4, warmUp: 2 };

/** For what is measured beside the base: other settings and several instances. */
export const shortPlan: Plan = values.quick ? plan : { rounds: 3, seconds: 1, warmUp: 0.7 };

/** How many ask, for how many, with how much behind them. */
export interface Setting {
  readonly connections: number;
  readonly developers: number;
  /** The count of each kind of record. */
  readonly rows: number;
}

/** The first of each list together, and then each other value alone in place of it. Rows come last: they stay. */
export function settingsOf({
  connections,
  developers,
  rows,
}: typeof options): readonly [Setting, ...Setting[]] {
  const base = { connections: connections[0], developers: developers[0], rows: rows[0] };
  return [
    base,
    ...connections.slice(1).map((each) => ({ ...base, connections: each })),
    ...developers.slice(1).map((each) => ({ ...base, developers: each })),
    ...rows.slice(1).map((each) => ({ ...base, rows: each })),
  ];
}
