import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openClient } from './client.ts';
import { memoryOf } from './cpu.ts';
import { fill } from './fill.ts';
import { type Flow, flowsOf } from './flows.ts';
import { demand } from './load.ts';
import { describeMachine, measureSigning } from './machine.ts';
import { type Dear, profileMissed } from './missed.ts';
import { options, plan, type Setting, settingsOf, USAGE } from './options.ts';
import { type Report, reportText } from './report.ts';
import { type Measured, measureInTurns } from './rounds.ts';
import { lastProblem, type Scene, setScene } from './scene.ts';
import { signUp, type Tenant } from './tenants.ts';

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
  const idleMemory = memoryOf(scene.server.pid);
  const settings: [Setting, readonly Measured[]][] = [];
  const tenantsOf = tenantsIn(scene);
  for (const setting of settingsOf(options)) {
    const { tenants, flows } = await tenantsOf(setting);
    for (const tenant of tenants) await fill(scene.db, tenant, setting.rows);
    await scene.db.query('vacuum analyze'); // a database in use has been vacuumed by autovacuum
    const chosen = flows.filter(({ name }) => name.includes(options.only));
    const measured = await measureInTurns(chosen, scene, { plan, setting, say }).catch((cause: unknown) => {
      throw new Error(`The last that the server said was wrong: ${lastProblem(scene)}`, { cause });
    });
    settings.push([setting, measured]);
    if (options.profile && settings.length === 1) {
      for (const dear of await profileMissed(scene, measured, { folder: options.profile, setting }))
        sayDear(dear);
    }
    for (const tenant of tenants) await mustBeWhole(scene.server.port, tenant);
  }
  return {
    settings,
    signing: await measureSigning(options.quick ? 0.5 : 2),
    machine: await describeMachine(scene.db, scene.redisVersion),
    startSeconds: scene.server.startSeconds,
    idleMemory,
    loadedMemory: memoryOf(scene.server.pid),
    plan,
    note: options.note,
  };
}

function sayDear({ flow, file, functions, packages }: Dear): void {
  say(`\n${flow} misses its aim: ${file}`);
  say(`by package\n${packages.join('\n')}`);
  say(`by function\n${functions.join('\n')}`);
}

/** Signs up each number of developers once, with enough grants for the most connections. */
function tenantsIn({ server, db }: Scene) {
  const made = new Map<number, { tenants: readonly Tenant[]; flows: readonly Flow[] }>();
  return async ({ developers }: Setting) => {
    const known = made.get(developers);
    if (known) return known;
    const grants = Math.ceil(Math.max(...options.connections) / developers);
    const tenants: Tenant[] = [];
    while (tenants.length < developers) tenants.push(await signUp(server.port, grants));
    const fresh = { tenants, flows: flowsOf(tenants, db) };
    made.set(developers, fresh);
    return fresh;
  };
}

/** Checks the results, because a fast wrong answer is worth nothing. */
async function mustBeWhole(port: number, { apiKey }: Tenant): Promise<void> {
  const client = await openClient(port);
  const answer = await demand(client, { method: 'GET', path: '/v1/audit/verify?toSeq=10000', apiKey }, 200);
  client.close();
  if (!JSON.parse(answer.toString()).valid) throw new Error('The audit chain is broken.');
}

// `exit` ends the server together with this process.
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(name, () => process.exit(1));
if (options.help) say(USAGE);
else await bench();
