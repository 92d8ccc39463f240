import { fork } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { end, type Server, startServer, startStores } from '../../test/harness/servers.ts';
import { makeThrowAway, sweepThrowAways } from '../machine/folders.ts';
import type { Client } from './client.ts';
import { latenciesOf } from './load.ts';
import { highestMemoryOf, timesOf as processTimesOf, secondsWithoutCore } from './machine.ts';
import type { Outcomes } from './neighbour-attacks.ts';
import { CONNECTIONS, runByClock } from './open-loop.ts';
import { dearestOf, openProfiler, turnsOf, withSources } from './profile.ts';
import { writeSection } from './results.ts';
import { openDatabase } from './scene.ts';
import { asked, heldBy, signUp, type Tenant } from './tenants.ts';

const USAGE = `npm run bench -- hostile [options]
  --minutes <n>  how long the neighbour attacks; 5 unless said. A quiet minute comes before
  --rate <n>     requests a second of each of the other account's two flows; 50 unless said
  --turns        profiles the service meanwhile, and prints the longest turns of its event loop. The profile makes the
                 other figures worse
  --note <text>  what else the machine was doing, for the results
  --write        writes the outcome into scripts/bench/RESULTS.md
`;
const WHAT = `One free account does everything that the default limits let it do, as expensively as it can
(\`scripts/bench/neighbour-attacks.ts\`), while another account verifies and authorizes by the clock: first in a quiet minute, then
besieged. Both use one process of the service. The neighbour's process has the lowest priority, since its machine would be
another one. The aims are a p99 of at most twice the quiet one, no 5xx, and less memory
than a pod's limit of 512 MiB. Made by \`npm run bench -- hostile --write\`.`;

const WARM_UP = 10; // seconds
const QUIET = 60; // seconds
/** The limits that a large customer's contract would lift. */
const CUSTOMER = {
  RATE_LIMIT_PLAN_ENTERPRISE: '1000000000',
  RATE_LIMIT_AUTHORIZE: '1000000000', // for the neighbour too, which keeps to the default by itself
  PLAN_ENTERPRISE_OPEN_REQUESTS: 'unlimited',
};

const { values: flags } = parseArgs({
  options: {
    minutes: { type: 'string', default: '5' },
    rate: { type: 'string', default: '50' },
    turns: { type: 'boolean', default: false },
    note: { type: 'string', default: '' },
    write: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
const say = (line: string) => process.stdout.write(`${line}\n`);

async function bench(): Promise<void> {
  await using cleanUp = new AsyncDisposableStack();
  const stores = cleanUp.adopt(await startStores(), ({ stop }) => stop());
  await sweepThrowAways('bench');
  const folder = makeThrowAway('bench');
  cleanUp.defer(() => rmSync(folder, { recursive: true, force: true }));
  const db = cleanUp.adopt(await openDatabase(stores), (client) => client.end());
  const neighbour = cleanUp.adopt(startNeighbour(), ({ stop }) => stop());

  // Months of the neighbour's account are made in a minute, without limits.
  const env = {
    PUBLIC_BASE_URL: 'http://auth.test', // one service, so one issuer
    WEBHOOK_ALLOW_PRIVATE_HOSTS: 'true',
    MAX_DELEGATION_DEPTH: '10',
  };
  const preparing = await startServer(stores, { folder, env });
  const customer = await signUp(preparing.port, CONNECTIONS);
  say(await neighbour.tell({ prepare: preparing.port }));
  await preparing.stop();
  await db.query(`update developers set plan = 'enterprise' where id = $1`, [customer.developerId]);
  await db.query('vacuum analyze');

  const server = await startServer(stores, { folder, hasLimits: true, env: { ...env, ...CUSTOMER } });
  cleanUp.defer(() => server.stop());
  await use(server, customer, WARM_UP);
  const quiet = await use(server, customer, QUIET);
  const before = highestMemoryOf(server.pid);
  const sayTurns = flags.turns ? await profileTurns(server) : undefined;
  const attacked = neighbour.tell({ attack: server.port, seconds: Number(flags.minutes) * 60 });
  const besieged = await use(server, customer, Number(flags.minutes) * 60);
  const highest = highestMemoryOf(server.pid);
  await sayTurns?.();
  const outcomes: Outcomes = JSON.parse(await attacked);

  const failed = Object.values(outcomes).reduce((sum, each) => sum + each.failed, 0);
  const rows = [
    ...(flags.note ? [['Meanwhile', flags.note]] : []),
    ['Minutes besieged', flags.minutes],
    ['Requests a second of each flow', flags.rate],
    ...(['verify', 'authorize'] as const).map((flow) => [
      `${flow}, p50 and p99: quiet → besieged`,
      timesOf(quiet[flow].times, besieged[flow].times),
    ]),
    [
      "The service's processor time, and its event loop's wait for a core, of the time",
      `${quiet.core} quiet, ${besieged.core} besieged`,
    ],
    ['Answers 5xx or lost, of the customer', `${quiet.failed} quiet, ${besieged.failed} besieged`],
    ['Answers 5xx, of the neighbour', String(failed)],
    ['Highest resident memory', `${before.toFixed(0)} MB quiet, ${highest.toFixed(0)} MB besieged`],
    ...Object.entries(outcomes).map(([name, each]) => [`Neighbour: ${name}`, wordsOf(each)]),
  ];
  for (const [name, figure] of rows) say(`${name}: ${figure}`);
  if (flags.write) writeSection('A hostile neighbour', WHAT, rows);
}

/** Both flows of the customer, side by side. */
async function use({ port, pid }: Server, customer: Tenant, seconds: number) {
  const core = coreOf(pid);
  const flow = async (path: string, bodyOf: (held: ReturnType<typeof heldBy>) => object) => {
    let failed = 0;
    const operation = (connection: number) => {
      const body = bodyOf(heldBy(customer, connection));
      const request = { method: 'POST', path, body, apiKey: customer.apiKey };
      return async (client: Client) => {
        const answer = await client.ask(request).catch(() => undefined);
        if (!answer || answer.status >= 500) failed += 1;
        else if (answer.status >= 300 || answer.body.includes('"valid":false'))
          throw new Error(`${path} answered ${answer.status}: ${answer.body}`);
      };
    };
    return {
      times: await runByClock({ port, seconds, rate: Number(flags.rate), operation }),
      failed: () => failed,
    };
  };
  const [verify, authorize] = await Promise.all([
    flow('/v1/tokens/verify', ({ grantToken }) => ({ token: grantToken })),
    flow('/v1/authorize', ({ agentId }) => ({ agentId, ...asked })),
  ]);
  return { verify, authorize, failed: verify.failed() + authorize.failed(), core: core() };
}

/** Reads how much of the time since the call a process ran, and its event loop waited for a core. */
function coreOf(pid: number) {
  const read = () => ({ ran: processTimesOf(pid)?.own ?? Number.NaN, waited: secondsWithoutCore(pid) });
  const [before, startedAt] = [read(), performance.now()];
  return () => {
    const [after, seconds] = [read(), (performance.now() - startedAt) / 1000];
    const share = (name: 'ran' | 'waited') =>
      `${(((after[name] - before[name]) / seconds) * 100).toFixed(0)} %`;
    return `${share('ran')} and ${share('waited')}`;
  };
}

/** Milliseconds. A request that meets two shorter ones is still answered within the aim. */
const LONG_TURN = 10;

async function profileTurns({ pid, inspectPort: port }: Server): Promise<() => Promise<void>> {
  const profiler = await openProfiler({ pid, port });
  await profiler.start();
  return async () => {
    const profile = withSources(await profiler.stop());
    profiler.close();
    const turns = turnsOf(profile, LONG_TURN);
    const sum = (times: readonly number[]) => times.reduce((all, time) => all + time, 0);
    const share = sum(turns.map(({ milliseconds }) => milliseconds)) / (sum(profile.timeDeltas) / 1000);
    say(
      `Turns of ${LONG_TURN} ms and more: ${turns.length}, ${(share * 100).toFixed(1)} % of the time. The longest:`,
    );
    for (const { milliseconds, functions } of turns.slice(0, 20)) {
      const names = functions.map(({ name, share: part }) => `${name} ${(part * 100).toFixed(0)} %`);
      say(`  ${milliseconds.toFixed(1)} ms: ${names.join(', ')}`);
    }
    const { functions } = dearestOf(profile, 12);
    for (const { name, share: part } of functions) say(`  ${(part * 100).toFixed(1)} % ${name}`);
  };
}

function timesOf(quiet: readonly number[], besieged: readonly number[]): string {
  const [before, after] = [latenciesOf(quiet), latenciesOf(besieged)];
  const both = (name: 'p50' | 'p99') => `${before[name].toFixed(1)} → ${after[name].toFixed(1)} ms`;
  return `${both('p50')}, ${both('p99')} (× ${(after.p99 / before.p99).toFixed(2)})`;
}

const wordsOf = ({ done, refused, failed, cut }: Outcomes[string]) =>
  `${done} answered, ${refused} refused, ${failed} failed, ${cut} cut`;

/**
 * The neighbour is another process, so that its work does not delay the customer's clock. It asks from a machine of its
 * own, so here it gets the processor when nobody else wants it.
 */
function startNeighbour() {
  const child = fork(join(import.meta.dirname, 'neighbour-attacks.ts'), { execArgv: [] });
  if (child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_LOW);
  return {
    async tell(message: object): Promise<string> {
      child.send(message);
      const ended = once(child, 'exit').then(() => Promise.reject(new Error('The neighbour has ended.')));
      const [answer] = await Promise.race([once(child, 'message'), ended]);
      return String(answer);
    },
    stop: () => end(child),
  };
}

// `exit` ends the server together with this process.
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(name, () => process.exit(1));
if (flags.help) say(USAGE);
else await bench();
