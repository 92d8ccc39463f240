import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { openClient } from './client.ts';
import {
  type Health,
  type Instances,
  type Million,
  measureInstances,
  measureMillion,
  watchHealth,
} from './instances.ts';
import { demand, type Summary } from './load.ts';
import { describeMachine, measureSigning, memoryOf, type SigningRates } from './machine.ts';
import { flowsOf } from './measured-flows.ts';
import { measureOpenLoop, CONNECTIONS as OPEN_CONNECTIONS, type OpenLoop } from './open-loop.ts';
import { options, type Plan, plan, type Setting, settingsOf, shortPlan, USAGE } from './options.ts';
import { type Dear, profileMissed } from './profile.ts';
import { percent, plural, table, whole } from './results.ts';
import { type Flow, floors, type Measured, measureInTurns } from './rounds.ts';
import { lastProblem, type Scene, setScene } from './scene.ts';
import { fill, signUp, type Tenant } from './tenants.ts';

const say = (line: string) => process.stdout.write(`${line}\n`);

const RESULTS = join(import.meta.dirname, 'RESULTS.md');
const BY_HAND = '## Set-up and suite';

/** Keeps the section of manual measurements and their commands. */
function keptByHand(): string {
  const text = readFileSync(RESULTS, 'utf8');
  const begins = text.indexOf(BY_HAND);
  return begins < 0 ? `${BY_HAND}\n` : text.slice(begins);
}

async function bench(): Promise<void> {
  const text = reportText(await measure());
  say(text);
  if (options.write) writeFileSync(RESULTS, `${text.trimEnd()}\n\n${keptByHand()}`);
}

async function measure(): Promise<Report> {
  await using cleanUp = new AsyncDisposableStack(); // the stack unwinds in reverse, even after a failure
  const scene = await setScene(cleanUp, options.sync);
  try {
    return await measureIn(scene);
  } catch (cause) {
    throw new Error(`The last that the server said was wrong: ${lastProblem(scene)}`, { cause });
  }
}

/** Milliseconds after which an idle process has collected the garbage of its start. */
const COLLECTED = 3000;

async function measureIn(scene: Scene): Promise<Report> {
  const { server, db } = scene;
  await delay(COLLECTED);
  const idleMemory = memoryOf(server.pid);
  const tenantsOf = tenantsIn(scene);
  const [base, ...others] = settingsOf(options);
  const first = await measureSetting(scene, base, plan, await tenantsOf(base));
  const loadedMemory = memoryOf(server.pid);
  const pair = first.find(({ flow }) => flow.name === 'authorize → token')?.flow;
  const million = pair ? await measureMillion(scene, pair, { plan, setting: base }) : undefined;
  const openLoop = options['open-loop'] ? await measureOpenLoop(scene, first, { ...plan, ...base }) : [];
  const count = options.instances;
  const together =
    count > 1 ? await measureInstances(scene, first, { count, plan: shortPlan, setting: base }) : undefined;
  if (together) for (const tenant of (await tenantsOf(base)).tenants) await mustBeWhole(scene, tenant);
  if (options.profile) {
    const place = { folder: options.profile, setting: base };
    for (const dear of await profileMissed(scene, first, place)) sayDear(dear);
  }
  const settings: [Setting, readonly Measured[]][] = [[base, first]];
  for (const setting of others) {
    settings.push([setting, await measureSetting(scene, setting, shortPlan, await tenantsOf(setting))]);
  }
  return {
    settings,
    million,
    openLoop,
    together,
    health: options.health > 0 ? await watchHealth(scene, options.health) : undefined,
    signing: await measureSigning(options.quick ? 0.5 : 2),
    machine: await describeMachine(db, scene.redisVersion),
    startSeconds: server.startSeconds,
    idleMemory,
    loadedMemory,
    plan,
    shortPlan,
    note: options.note,
  };
}

async function measureSetting(
  scene: Scene,
  setting: Setting,
  course: Plan,
  { tenants, flows }: { tenants: readonly Tenant[]; flows: readonly Flow[] },
): Promise<Measured[]> {
  for (const tenant of tenants) await fill(scene.db, tenant, setting.rows);
  await scene.db.query('vacuum analyze'); // a database in use has been vacuumed by autovacuum
  const named = flows.filter(({ name }) => name.includes(options.only));
  const chosen = flows.filter((flow) => named.some((each) => each === flow || each.beside === flow.name));
  const measured = await measureInTurns(chosen, scene, { plan: course, setting, say });
  for (const tenant of tenants) await mustBeWhole(scene, tenant);
  return measured;
}

function sayDear({ flow, file, functions, packages }: Dear): void {
  say(`\n${flow} misses its aim: ${file}`);
  say(`by package\n${packages.join('\n')}`);
  say(`by function\n${functions.join('\n')}`);
}

/** Signs up each number of developers once, with a grant for each connection that spends tokens. */
function tenantsIn({ server, db }: Scene) {
  const made = new Map<number, { tenants: readonly Tenant[]; flows: readonly Flow[] }>();
  return async ({ developers }: Setting) => {
    const known = made.get(developers);
    if (known) return known;
    const spenders = Math.max(
      ...options.connections,
      OPEN_CONNECTIONS,
      options.connections[0] * options.instances,
    );
    const tenants: Tenant[] = [];
    while (tenants.length < developers) {
      tenants.push(await signUp(server.port, Math.ceil(spenders / developers)));
    }
    const fresh = { tenants, flows: flowsOf(tenants, db) };
    made.set(developers, fresh);
    return fresh;
  };
}

const VERIFIED = 10_000; // entries in one call

/** Checks both ends of the chain, because a fast wrong answer is worth nothing. */
async function mustBeWhole({ server, db }: Scene, { developerId, apiKey }: Tenant): Promise<void> {
  const { rows } = await db.query('select seq from audit_heads where developer_id = $1', [developerId]);
  const length = Number(rows[0]?.seq);
  const client = await openClient(server.port);
  for (const fromSeq of new Set([1, Math.max(1, length - VERIFIED + 1)])) {
    const toSeq = Math.min(length, fromSeq + VERIFIED - 1);
    const path = `/v1/audit/verify?fromSeq=${fromSeq}&toSeq=${toSeq}`;
    const answer = await demand(client, { method: 'GET', path, apiKey }, 200);
    if (!JSON.parse(answer.toString()).valid) throw new Error('The audit chain is broken.');
  }
  client.close();
}

interface Report {
  /** The first is the one that all others are held against. */
  readonly settings: readonly (readonly [Setting, readonly Measured[]])[];
  readonly million: Million | undefined;
  readonly openLoop: readonly OpenLoop[];
  readonly together: Instances | undefined;
  readonly health: Health | undefined;
  readonly signing: SigningRates;
  readonly machine: readonly string[];
  readonly startSeconds: number;
  /** Memory in MB. */
  readonly idleMemory: number;
  readonly loadedMemory: number;
  readonly plan: Plan;
  /** The rounds of the other settings and of several instances. */
  readonly shortPlan: Plan;
  readonly note: string;
}

function reportText(report: Report): string {
  const { settings, machine, plan, shortPlan, note } = report;
  const parts = [
    `# Benchmark results`,
    `Made by \`npm run bench -- flows --write\`; \`--help\` tells what else it can do. One server process as an operator starts
it (RS256, rate limiter counting, log at \`info\` to a file, audit entry and event in the transaction), over loopback, with
database, Redis and the driver on the same machine. Medians of ${plural(plan.rounds, 'round')} of ${plan.seconds} s each, taken in turns with floor
routes: Fastify routes written by hand that do the same input and output and nothing else (\`scripts/bench/floor-server.ts\`).
Other settings and several instances have ${plural(shortPlan.rounds, 'round')} of ${shortPlan.seconds} s each.
A share is the flow's rate by its floor's in the same round. A share of CPU is the floor's processor time by the flow's,
and stays readable beside other work. Shares compare between machines, and rates do not.`,
    [...machine, ...slowerText(), ...(note ? [note] : [])].map((line) => `- ${line}`).join('\n'),
    ...settings.map(settingText),
    ...ratesText(settings),
    ...besideText(settings),
    `CPU is processor milliseconds of one: one ${unitsOf(settings).join(', one ')}.`,
    ...millionText(report.million),
    ...growthText(settings),
    ...openLoopText(report.openLoop),
    ...togetherText(report.together),
    ...healthText(report.health),
    processText(report),
  ];
  return `${parts.join('\n\n')}\n`;
}

const slowerText = () =>
  options.sync > 0 ? [`Each synced write of Postgres takes ${options.sync} ms longer, by strace`] : [];

const unitsOf = (settings: Report['settings']) => [
  ...new Set(settings.flatMap(([, measured]) => measured.map(({ flow }) => flow.unit))),
];

const HEAD = ['Flow', 'A second', 'Share', 'Aim', 'Share of CPU', 'p50 ms', 'p99 ms'];
const CPU = { server: 'Server CPU', postgres: 'Postgres CPU', redis: 'Redis CPU', driver: 'Driver CPU' };

function settingText([setting, measured]: Report['settings'][number]): string {
  const flows = measured.map(({ flow, summary, floor, share }) => {
    const shares = [percent(share), percent(flow.aim), percent(costOf(floor) / costOf(summary))];
    return [flow.name, whole(summary.rate), ...shares, ...figuresOf(summary)];
  });
  const below = [...new Map(measured.map(({ flow, floor }) => [flow.floor, floor]))];
  const floorRows = below.map(([floor, summary]) => [
    `floor: ${floors[floor]}`,
    ...[whole(summary.rate), '', '', ''],
    ...figuresOf(summary),
  ]);
  const rows = [...flows, ...floorRows];
  return `**${titleOf(setting)}**\n\n${table([...HEAD, ...Object.values(CPU)], rows)}`;
}

function titleOf({ connections, developers, rows }: Setting): string {
  const past = rows > 0 ? `, ${whole(rows)} of each kind of record before` : '';
  return `${plural(connections, 'connection')}, ${plural(developers, 'developer')}${past}`;
}

const figuresOf = ({ p50, p99, cpu }: Summary) => [
  p50.toFixed(2),
  p99.toFixed(2),
  ...Object.keys(CPU).map((who) => cpu[who]?.toFixed(3) ?? ''),
];

/** The processor milliseconds of one operation, without the driver's. */
const costOf = ({ cpu }: Summary) => (cpu.server ?? 0) + (cpu.postgres ?? 0) + (cpu.redis ?? 0);

/** The time of each flow of OAuth by that of the native flow, round by round, as clients feel it. */
function ratesText([first]: Report['settings']): string[] {
  const measured = first?.[1] ?? [];
  const rows = measured.flatMap(({ flow: { name, beside = '' }, dearer }) => {
    const native = measured.find(({ flow }) => flow.name === beside);
    if (!native || dearer === undefined) return [];
    const own = measured.find(({ flow }) => flow.name === name)?.summary.rate ?? Number.NaN;
    return [[`${name}, by ${beside}`, whole(native.summary.rate), whole(own), dearer.toFixed(2)]];
  });
  if (rows.length === 0) return [];
  const head = ['OAuth beside native, same rounds', 'Native, a second', 'OAuth, a second', 'Native by OAuth'];
  return [table(head, rows), 'The aim is at most 1.20.'];
}

/** The cost of each flow of OAuth by that of the native flow. The rest of a pair is the exchange of its code. */
function besideText([first]: Report['settings']): string[] {
  const measured = first?.[1] ?? [];
  const costs = new Map(measured.map(({ flow, summary }) => [flow.name, costOf(summary)]));
  const rows = measured.flatMap(({ flow: { name, beside = '' } }) => {
    const [own, native] = [costs.get(name), costs.get(beside)];
    return own && native ? [[name, (own / native).toFixed(2)]] : [];
  });
  const rest = (flow: string) =>
    (costs.get(`${flow} → token`) ?? Number.NaN) - (costs.get(flow) ?? Number.NaN);
  const byCode = rest('oauth authorize') / rest('authorize');
  if (Number.isFinite(byCode)) rows.push(['oauth token by code, the rest of the pair', byCode.toFixed(2)]);
  if (rows.length === 0) return [];
  return [table(['Processor time by that of the native flow', ''], rows), 'The aim is at most 1.2.'];
}

function millionText(million?: Million): string[] {
  if (!million) return [];
  const { hours, gigabytes } = million;
  const spent = (who: string) => `${whole(hours[who] ?? Number.NaN)} h`;
  const rows = [
    ['Server, hours of one core', spent('server')],
    ['Postgres, hours of one core', spent('postgres')],
    ['Redis, hours of one core', spent('redis')],
    ['Disk, rows and indexes', `${whole(gigabytes)} GB`],
  ];
  return [table(['A million authorizations with their tokens', ''], rows)];
}

/** The cost of each flow with many rows, by its cost in the first setting. */
function growthText([first, ...others]: Report['settings']): string[] {
  const grown = others.filter(([{ rows }]) => rows > 0);
  if (!first || grown.length === 0) return [];
  const rows = first[1].map(({ flow, summary }) => {
    const costs = grown.map(
      ([, measured]) => measured.find((other) => other.flow.name === flow.name)?.summary,
    );
    return [flow.name, ...costs.map((cost) => (cost ? (costOf(cost) / costOf(summary)).toFixed(2) : ''))];
  });
  const head = ['Cost by the cost of the first table', ...grown.map(([setting]) => whole(setting.rows))];
  return [table(head, rows), 'The aim is at most 1.2.'];
}

function openLoopText(results: readonly OpenLoop[]): string[] {
  if (results.length === 0) return [];
  const rows = results.map(({ name, rate, p50, p99, floorP99, longestTurn, driver }) => {
    const times = [p50.toFixed(2), p99.toFixed(2), (p99 / p50).toFixed(1), floorP99.toFixed(2)];
    return [name, whole(rate), ...times, longestTurn.toFixed(1), percent(driver)];
  });
  const head = [
    'By the clock, at half of the highest rate',
    'A second',
    'p50 ms',
    'p99 ms',
    'p99 by p50',
    "Floor's p99 ms",
  ];
  return [
    table([...head, "Driver's longest turn, ms", 'Driver, of a core'], rows),
    `The driver sleeps in a thread until the next request is due, and its priority is above the service's, because clients have
machines of their own. The aim is a p99 of at most five times the p50. As long as the driver's longest turn lasts, answers that have come wait to
be read; so long a tail is the driver's or the machine's, and says nothing of the service.`,
  ];
}

function togetherText(together?: Instances): string[] {
  if (!together) return [];
  const { count, pinned, flows } = together;
  const rows = flows.map(({ name, one, all }) => [name, whole(one), whole(all), (all / one).toFixed(2)]);
  const head = ['Instances on one database', 'One, a second', `${count}, a second`, 'Together by one'];
  return [table(head, rows), `Cores: ${pinned}. The chains were whole afterwards.`];
}

function healthText(health?: Health): string[] {
  if (!health) return [];
  const { rows, asked, p99, longest, seconds } = health;
  return [
    `\`GET /health\` while jobs worked off ${whole(rows)} grants and ${whole(rows)} requests that had run out and ${whole(rows)} old events,
in ${whole(seconds)} s: ${whole(asked)} answers, p99 ${p99.toFixed(1)} ms, the longest ${longest.toFixed(1)} ms. The aim is 50 ms.`,
  ];
}

function processText({ signing, startSeconds, idleMemory, loadedMemory }: Report): string {
  return table(
    ['Machine and process', ''],
    [
      ['RSA-2048 signatures, one core', `${whole(signing.sign)}/s`],
      ['RSA-2048 signatures, thread pool', `${whole(signing.pooledSign)}/s`],
      ['RSA-2048 verifications, one core', `${whole(signing.verify)}/s`],
      ['Start on an existing database to the first good answer', `${startSeconds.toFixed(2)} s`],
      ['Resident memory, idle', `${whole(idleMemory)} MB`],
      ['Resident memory, after the load', `${whole(loadedMemory)} MB`],
    ],
  );
}

// `exit` ends the server together with this process.
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(name, () => process.exit(1));
if (options.help) say(USAGE);
else await bench();
