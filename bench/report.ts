import { floors } from './floors.ts';
import type { Summary } from './load.ts';
import type { SigningRates } from './machine.ts';
import type { Plan, Setting } from './options.ts';
import type { Measured } from './rounds.ts';

export interface Report {
  /** The first is the one that all others are held against. */
  readonly settings: readonly (readonly [Setting, readonly Measured[]])[];
  readonly signing: SigningRates;
  readonly machine: readonly string[];
  readonly startSeconds: number;
  /** Memory in MB. */
  readonly idleMemory: number;
  readonly loadedMemory: number;
  readonly plan: Plan;
  readonly note: string;
}

export function reportText(report: Report): string {
  const { settings, signing, machine, plan, note } = report;
  const { startSeconds, idleMemory, loadedMemory } = report;
  const units = new Set(settings.flatMap(([, measured]) => measured.map(({ flow }) => flow.unit)));
  return `# Benchmark results

Made by \`npm run bench -- --write\`; \`--help\` tells what else it can do. One server process as an operator starts
it (RS256, rate limiter counting, log at \`info\` to a file, audit entry and event in the transaction), over loopback, with
database, Redis and the driver on the same machine. Medians of ${plan.rounds} round${plan.rounds === 1 ? '' : 's'} of ${plan.seconds} s each, taken in turns with floor
routes: Fastify routes written by hand that do the same input and output and nothing else (\`bench/floor-server.ts\`).
A share is the flow's rate by its floor's in the same round; a share of CPU is the same of the work that a processor second
does, and stays readable beside other work. Shares compare between machines, and rates do not.

${machine.map((line) => `- ${line}`).join('\n')}${note ? `\n- ${note}` : ''}

${settings.map(settingText).join('\n\n')}

One of a flow is one ${[...units].join(', one ')}. CPU is processor milliseconds of one.

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

const HEAD = `| Flow | A second | Share | Aim | Share of CPU | p50 ms | p99 ms | Server CPU | Postgres CPU | Redis CPU | Driver CPU |
|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|`;

function settingText([setting, measured]: Report['settings'][number]): string {
  const { connections, developers, rows } = setting;
  const past = rows > 0 ? `, ${whole(rows)} of each kind of record before` : '';
  const title = `${plural(connections, 'connection')}, ${plural(developers, 'developer')}${past}`;
  const lines = measured.map(({ flow, summary, floor, share }) => {
    const ofCpu = costOf(floor) / costOf(summary);
    return line([flow.name, whole(summary.rate), percent(share), percent(flow.aim), percent(ofCpu)], summary);
  });
  const below = [...new Map(measured.map(({ flow, floor }) => [flow.floor, floor]))];
  const floorLines = below.map(([floor, summary]) =>
    line([`floor: ${floors[floor]}`, whole(summary.rate), '', '', ''], summary),
  );
  return `**${title}**\n\n${[HEAD, ...lines, ...floorLines].join('\n')}`;
}

function line(cells: readonly string[], { p50, p99, cpu }: Summary): string {
  const spent = ['server', 'postgres', 'redis', 'driver'].map((who) => cpu[who]?.toFixed(3) ?? '');
  return `| ${[...cells, p50.toFixed(2), p99.toFixed(2), ...spent].join(' | ')} |`;
}

/** The processor milliseconds of one operation, without the driver's. */
const costOf = ({ cpu }: Summary) => (cpu.server ?? 0) + (cpu.postgres ?? 0) + (cpu.redis ?? 0);

const plural = (count: number, noun: string) => `${count} ${noun}${count === 1 ? '' : 's'}`;
const percent = (share: number) => `${Math.round(share * 100)} %`;

/** Rounds to three digits; more digits would be noise. */
const whole = (value: number) => Number(value.toPrecision(3)).toLocaleString('en');
