import { compilePolicies } from '../../apps/server/src/features/grants/policies/compile.rules.ts';
import {
  NO_CONDITIONS,
  type Policy,
  type PolicyRequest,
} from '../../apps/server/src/features/grants/policies/match.rules.ts';
import { table, whole } from './results.ts';

/** Decisions over policies in memory: `npm run bench -- policies`. */
const COUNTS = [1, 100, 10_000];
const DECISIONS = 50_000;
const ROUNDS = 5;

const policy = (id: number): Policy => ({
  ...NO_CONDITIONS,
  id: `pol_${id}`,
  name: `Policy ${id}`,
  effect: id % 2 === 0 ? 'deny' : 'allow',
  priority: id % 7,
  agentId: id % 3 === 0 ? `ag_${id % 500}` : null,
  principalId: id % 5 === 0 ? `user_${id % 700}` : null,
  scopes: id % 4 === 0 ? [`tool:crm:write:record_${id}`] : [`payments:transfer:${id}`, `area${id % 900}:*`],
  dayStart: id % 6 === 0 ? 1320 : null,
  dayEnd: id % 6 === 0 ? 360 : null,
  // One in eight has further conditions.
  ...(id % 8 === 1 && { timeZone: 'Europe/Berlin', daysOfWeek: ['sat', 'sun'] }),
  ...(id % 16 === 2 && { networks: [`10.${id % 250}.0.0/16`], purposes: ['payments.payout'] }),
  createdAt: new Date(id),
});

/** Policies without scopes that differ in one kind of condition alone. */
const alike =
  (differ: (id: number) => Partial<Policy>) =>
  (id: number): Policy => ({
    ...NO_CONDITIONS,
    id: `pol_${id}`,
    name: `Policy ${id}`,
    effect: 'deny',
    priority: 0,
    ...differ(id),
    createdAt: new Date(id),
  });

const KINDS: Readonly<Record<string, (id: number) => Policy>> = {
  'all kinds': policy,
  'networks alone': alike((id) => ({ networks: [`172.${id >> 8}.${id % 256}.0/24`] })),
  'tools alone': alike((id) => ({ connector: 'crm', tools: [`tool_${id}`] })),
  'depths alone': alike((id) => ({ depthMin: 1 + (id % 100), depthMax: 120 + ((id >> 7) % 100) })),
};

const asked = (id: number): PolicyRequest => ({
  agentId: `ag_${id % 600}`,
  principalId: `user_${id % 800}`,
  scopes: ['calendar:read', `payments:transfer:${id % 12_000}`, `tool:crm:write:record_${id % 12_000}`],
  at: new Date(Date.UTC(2026, 0, 1, id % 24)),
  address: `10.${id % 250}.7.7`,
  ...(id % 2 === 0 && { purpose: 'payments.payout' }),
  call: { connector: 'crm', tool: `other_${id}` },
});

const questions = Array.from({ length: 1000 }, (_, id) => asked(id * 7));

interface Cost {
  readonly compileMs: number;
  readonly cpu: number;
  readonly p99: number;
  readonly decided: number;
}

function measure(count: number, make: (id: number) => Policy): Cost {
  const policies = Array.from({ length: count }, (_, id) => make(id));
  const began = performance.now();
  const compiled = compilePolicies(policies);
  const compileMs = performance.now() - began;
  const times = new Float64Array(DECISIONS);
  let decided = 0;
  const before = process.cpuUsage();
  for (let each = 0; each < DECISIONS; each += 1) {
    const question = questions[each % questions.length];
    const start = performance.now();
    if (question && compiled.decide(question)) decided += 1;
    times[each] = performance.now() - start;
  }
  const { user, system } = process.cpuUsage(before);
  times.sort();
  const p99 = (times[Math.floor(DECISIONS * 0.99)] ?? 0) * 1000;
  return { compileMs, cpu: (user + system) / DECISIONS, p99, decided };
}

const settings = Object.entries(KINDS).flatMap(([kind, make]) =>
  COUNTS.map((count) => ({ kind, count, make, rounds: [] as Cost[] })),
);
for (const { count, make } of settings) measure(count, make); // compiled by the engine
for (let round = 0; round < ROUNDS; round += 1) {
  for (const { count, make, rounds } of settings) rounds.push(measure(count, make));
}

const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;
const rows = settings.map(({ kind, count, rounds }) => [
  kind,
  whole(count),
  median(rounds.map(({ cpu }) => cpu)).toFixed(1),
  median(rounds.map(({ p99 }) => p99)).toFixed(1),
  median(rounds.map(({ compileMs }) => compileMs)).toFixed(1),
  `${Math.round((100 * (rounds[0]?.decided ?? 0)) / DECISIONS)} %`,
]);
process.stdout.write(
  `${table(['Different in', 'Policies', 'CPU µs a decision', 'p99 µs', 'Compile ms', 'Decided'], rows)}\n`,
);
