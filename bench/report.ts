import type { Flow } from './flows.ts';
import { CONNECTIONS, type Summary } from './load.ts';
import type { SigningRates } from './machine.ts';

export interface Report {
  readonly results: readonly (readonly [Flow, Summary])[];
  readonly signing: SigningRates;
  readonly machine: readonly string[];
  readonly startSeconds: number;
  /** Memory in MB. */
  readonly idleMemory: number;
  readonly loadedMemory: number;
  readonly plan: { readonly rounds: number; readonly seconds: number };
  readonly rowCount: number;
  readonly note: string;
}

/** The target rates of one process, in operations a second. */
const AIMS: Readonly<Record<string, number>> = {
  JWKS: 40_000,
  verify: 8000,
  'agents list (10)': 8000,
  authorize: 4000,
  'authorize → token': 1200,
  refresh: 2000,
  'audit append, one chain': 5000,
  'revoke grant': 2500,
};

export function reportText(report: Report): string {
  const { results, signing, machine, plan, rowCount, note } = report;
  const { startSeconds, idleMemory, loadedMemory } = report;
  const past = rowCount > 0 ? ` The developer had ${whole(rowCount)} of each kind of record before.` : '';
  return `# Benchmark results

Made by \`npm run bench -- --write\`; \`--help\` tells what else it can do. One server process as an operator starts
it (RS256, rate limiter counting, log at \`info\` to a file, audit entry and event in the transaction), one developer,
${CONNECTIONS} connections kept open, over loopback, with database, Redis and the driver on the same machine. Medians of
${plan.rounds} round${plan.rounds === 1 ? '' : 's'} of ${plan.seconds} s each, taken in turns.${past}

${machine.map((line) => `- ${line}`).join('\n')}${note ? `\n- ${note}` : ''}

| Flow | A second | Aim | p50 ms | p99 ms | Server CPU ms | Postgres CPU ms |
|---|---:|---:|---:|---:|---:|---:|
${results.map(([flow, summary]) => line(flow, summary)).join('\n')}

One of a flow is one ${[...new Set(results.map(([{ unit }]) => unit))].join(', one ')}. CPU is processor time of one of them: figures
that compare between machines better than rates do.

| | |
|---|---:|
| RSA-2048 signatures, one core | ${whole(signing.sign)}/s |
| RSA-2048 signatures, thread pool | ${whole(signing.pooledSign)}/s |
| RSA-2048 verifications, one core | ${whole(signing.verify)}/s |
| Start on an existing database to the first good answer | ${startSeconds.toFixed(2)} s |
| Resident memory, idle | ${whole(idleMemory)} MB |
| Resident memory, after the load | ${whole(loadedMemory)} MB |
`;
}

function line({ name }: Flow, { rate, p50, p99, cpu }: Summary): string {
  const aim = AIMS[name];
  const cells = [
    name,
    whole(rate),
    aim === undefined ? '' : whole(aim),
    p50.toFixed(2),
    p99.toFixed(2),
    spent(cpu.server),
    spent(cpu.postgres),
  ];
  return `| ${cells.join(' | ')} |`;
}

const spent = (milliseconds?: number) => (milliseconds === undefined ? '' : milliseconds.toFixed(3));

/** Rounds to three digits; more digits would be noise. */
const whole = (value: number) => Number(value.toPrecision(3)).toLocaleString('en');
