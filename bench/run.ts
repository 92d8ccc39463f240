import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { makeThrowAway, sweepThrowAways } from '../tools/machine/throw-away.ts';
import { startServer, startStores } from '../tools/measured/servers.ts';
import { ask } from '../tools/redis/server.ts';
import { openClient } from './client.ts';
import { familyMeterOf, type Meter, memoryOf, meterOf, parentOf } from './cpu.ts';
import { fill } from './fill.ts';
import { type Flow, flowsOf, signUp, type Tenant } from './flows.ts';
import { demand, type Round, run, type Summary, summaryOf } from './load.ts';
import { describeMachine, measureSigning } from './machine.ts';
import { type Report, reportText } from './report.ts';
import { openDatabase, startBareServer } from './servers.ts';

const USAGE = `npm run bench -- [options]
  --quick           one short round of each flow, in under a minute
  --only <text>     flows whose name holds the text
  --rows <count>    with that many grants, tokens, requests and audit entries of the developer already there
  --profile <dir>   writes the server's CPU profile there
  --note <text>     what else the machine was doing, for the results
  --write           writes bench/RESULTS.md
`;

const { values: flags } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string', default: '' },
    rows: { type: 'string', default: '0' },
    profile: { type: 'string' },
    note: { type: 'string', default: '' },
    write: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
const plan = flags.quick ? { rounds: 1, seconds: 1.5, warmUp: 0.5 } : { rounds: 5, seconds: 4, warmUp: 2 };
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
  if (flags.write) writeFileSync(RESULTS, `${text.trimEnd()}\n\n${keptByHand()}`);
}

async function measure(): Promise<Report> {
  await using cleanUp = new AsyncDisposableStack(); // the stack unwinds in reverse, even after a failure
  const stores = cleanUp.adopt(await startStores(), ({ stop }) => stop());
  await sweepThrowAways('bench');
  const folder = makeThrowAway('bench');
  cleanUp.defer(() => rmSync(folder, { recursive: true, force: true }));
  const db = cleanUp.adopt(await openDatabase(stores), (client) => client.end());
  const { rows } = await db.query<{ pid: number }>('select pg_backend_pid() as pid');
  const postgres = familyMeterOf(parentOf(rows[0]?.pid ?? 0));

  await (await startServer(stores, { folder })).stop(); // migrates
  const profiling = flags.profile ? { profileFolder: flags.profile } : {};
  const server = cleanUp.adopt(await startServer(stores, { folder, ...profiling }), ({ stop }) => stop());
  const bare = cleanUp.adopt(await startBareServer(), ({ stop }) => stop());
  const idleMemory = memoryOf(server.pid);
  const tenant = await signUp(server.port);
  const rowCount = Number(flags.rows);
  if (rowCount > 0) await fill(db, tenant, rowCount);

  const meters = { server: meterOf(server.pid), postgres };
  const measured = [
    { flow: bareFlow, port: bare.port, meters: { server: meterOf(bare.pid) } },
    ...flowsOf(tenant, db).map((flow) => ({ flow, port: server.port, meters })),
  ].filter(({ flow }) => flow.name.includes(flags.only));
  await db.query('vacuum analyze'); // a database in use has been vacuumed by autovacuum
  const results = await inTurns(measured).catch((cause: unknown) => {
    throw new Error(`The last that the server said was wrong: ${lastProblem(folder)}`, { cause });
  });

  const loadedMemory = memoryOf(server.pid);
  if (rowCount === 0) await mustBeWhole(server.port, tenant); // bulk entries have no real hash
  const signing = await measureSigning(flags.quick ? 0.5 : 2);
  const machine = await describeMachine(db, await redisVersionOf(stores.redisUrl));
  const { startSeconds } = server;
  return {
    results,
    signing,
    machine,
    startSeconds,
    idleMemory,
    loadedMemory,
    plan,
    rowCount,
    note: flags.note,
  };
}

interface Measured {
  readonly flow: Flow;
  readonly port: number;
  readonly meters: Readonly<Record<string, Meter>>;
}

/**
 * Runs one round of each flow before the next round of any, so that a disturbance of the machine affects all
 * flows.
 */
async function inTurns(measured: readonly Measured[]): Promise<(readonly [Flow, Summary])[]> {
  const rounds = new Map<Flow, Round[]>(measured.map(({ flow }) => [flow, []]));
  for (let round = 0; round <= plan.rounds; round += 1) {
    const seconds = round === 0 ? plan.warmUp : plan.seconds;
    for (const { flow, ...where } of measured) {
      await flow.prepare?.();
      const result = await run({ ...where, seconds, operation: flow.operation });
      if (round > 0) rounds.get(flow)?.push(result);
    }
    if (round > 0) say(`round ${round} of ${plan.rounds}`);
  }
  return [...rounds].map(([flow, each]) => [flow, summaryOf(each)]);
}

const bareFlow: Flow = {
  name: 'bare Fastify route with a schema',
  unit: 'answer',
  operation: () => (client) => demand(client, { method: 'POST', path: '/bare', body: { token: 'x' } }, 200),
};

function lastProblem(folder: string): string {
  const lines = readFileSync(join(folder, 'server.log'), 'utf8').split('\n');
  return lines.findLast((line) => /"level":"(error|fatal|warn)"/.test(line)) ?? 'nothing';
}

/** Checks the results, because a fast wrong answer is worth nothing. */
async function mustBeWhole(port: number, { apiKey }: Tenant): Promise<void> {
  const client = await openClient(port);
  const answer = await demand(client, { method: 'GET', path: '/v1/audit/verify?toSeq=10000', apiKey }, 200);
  client.close();
  if (!JSON.parse(answer.toString()).valid) throw new Error('The audit chain is broken.');
}

async function redisVersionOf(url: string): Promise<string> {
  if (url === 'memory:') return 'absent (in-process store)';
  const { port, password } = new URL(url);
  const answer = await ask({ port: Number(port), password }, 'INFO server');
  return /redis_version:(\S+)/.exec(answer)?.[1] ?? 'unknown';
}

// `exit` ends the server together with this process.
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(name, () => process.exit(1));
if (flags.help) say(USAGE);
else await bench();
