import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openClient } from './client.ts';
import { watchHealth } from './health.ts';
import { measureInstances, measureMillion } from './instances.ts';
import { demand } from './load.ts';
import { describeMachine, measureSigning, memoryOf } from './machine.ts';
import { flowsOf } from './measured-flows.ts';
import { measureOpenLoop, CONNECTIONS as OPEN_CONNECTIONS } from './open-loop.ts';
import { options, type Plan, plan, type Setting, settingsOf, shortPlan, USAGE } from './options.ts';
import { type Dear, profileMissed } from './profile.ts';
import { type Report, reportText } from './report.ts';
import type { Flow } from './rounds.ts';
import { type Measured, measureInTurns } from './rounds.ts';
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
  const scene = await setScene(cleanUp);
  try {
    return await measureIn(scene);
  } catch (cause) {
    throw new Error(`The last that the server said was wrong: ${lastProblem(scene)}`, { cause });
  }
}

async function measureIn(scene: Scene): Promise<Report> {
  const { server, service, db } = scene;
  const idleMemory = memoryOf(server.pid);
  const tenantsOf = tenantsIn(scene);
  const [base, ...others] = settingsOf(options);
  const first = await measureSetting(scene, base, plan, await tenantsOf(base));
  const loadedMemory = memoryOf(server.pid);
  const pair = first.find(({ flow }) => flow.name === 'authorize → token')?.flow;
  const million = pair ? await measureMillion(scene, pair, { plan, setting: base }) : undefined;
  const openLoop = options['open-loop'] ? await measureOpenLoop(service, first, plan.seconds) : [];
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

// `exit` ends the server together with this process.
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(name, () => process.exit(1));
if (options.help) say(USAGE);
else await bench();
