import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { makeThrowAway, sweepThrowAways, waitUntil } from '../machine/folders.ts';
import { packPackages } from '../pack/pack.ts';
import { type Done, Load, missingOnChain, type Sent } from './faults-load.ts';
import { absentPackages, type Part, type Parts, startParts } from './faults-parts.ts';
import { median } from './load.ts';
import { table, writeSection } from './results.ts';

const USAGE = `npm run bench -- faults [options]
  --rounds <count>  how often each part is killed (20)
  --minutes <n>     no kill after that many minutes, with either kind of Redis (60)
  --rate <n>        requests a second (40)
  --redis <kind>    sentinels, cluster, or both, one after the other (both)
  --parts <text>    parts whose name holds the text
  --note <text>     what else the machine was doing, for the results
  --write           writes the outcome into scripts/bench/RESULTS.md
It needs these packages of Debian, and installs none: postgresql patroni etcd-server pgbouncer redis-server haproxy
`;
const WHAT = `All parts run on one machine: HAProxy before two processes of the service, PgBouncer (in transaction mode) before HAProxy
before a primary and a synchronous standby of PostgreSQL under Patroni and one etcd, HAProxy before a primary and a replica of
Redis under three Sentinels, or in a second run a Redis Cluster of three primaries and three replicas. Clients authorize, exchange, verify, append and revoke by the clock while one part after the
other is killed with SIGKILL. What has no partner starts again a second later, and what has one starts when writes go on. Seconds run
from the kill to the first write after the last refusal, or over the longest silence. Made by
\`npm run bench -- faults --write\`.`;

const { values: flags } = parseArgs({
  options: {
    rounds: { type: 'string', default: '20' },
    minutes: { type: 'string', default: '60' },
    rate: { type: 'string', default: '40' },
    redis: { type: 'string', default: 'both' },
    parts: { type: 'string', default: '' },
    note: { type: 'string', default: '' },
    write: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
const say = (line: string) => process.stdout.write(`${line}\n`);

/** All in milliseconds. */
const SUPERVISOR = 1000;
const STEADY = 2000;
const LONGEST_OUTAGE = 120_000;
/** A statement may take ten seconds and a wait for a connection thirty. */
const LONGEST_REQUEST = 45_000;

interface Kill {
  readonly part: string;
  readonly seconds: number;
  readonly sent: readonly Sent[];
}

async function main(): Promise<void> {
  const absent = absentPackages();
  if (absent.length > 0) {
    say(`These packages of Debian are absent: ${absent.join(' ')}`);
    process.exitCode = 1;
    return;
  }
  await packPackages(join(import.meta.dirname, '../..')); // as `npm start` and the image have it
  await sweepThrowAways('faults');
  const runs: Run[] = [];
  for (const kind of ['sentinels', 'cluster'] as const)
    if (flags.redis === 'both' || flags.redis === kind) runs.push(await runWith(kind));
  report(runs);
}

interface Run {
  readonly kills: readonly Kill[];
  readonly load: Load;
  readonly faults: readonly string[];
}

async function runWith(kind: 'sentinels' | 'cluster'): Promise<Run> {
  await using cleanUp = new AsyncDisposableStack();
  const folder = makeThrowAway('faults');
  cleanUp.defer(() => rmSync(folder, { recursive: true, force: true }));
  const parts = await startParts(folder, cleanUp, kind);
  const load = await Load.begin(`http://127.0.0.1:${parts.port}`, Number(flags.rate));
  const kills: Kill[] = [];
  const stopped: string[] = [];
  await killInTurns(parts, load, kills).catch((error) => stopped.push(String(error)));
  await load.end();
  if (!(await waitUntil(parts.isWhole, { seconds: 90 }))) stopped.push('The service is not whole again.');
  const missing = await missingOnChain(load.account, load.done);
  return { kills, load, faults: [...stopped, ...load.faults, ...tooLong(kills), ...missing] };
}

async function killInTurns(parts: Parts, load: Load, kills: Kill[]): Promise<void> {
  const endsAt = performance.now() + Number(flags.minutes) * 60_000;
  const chosen = parts.list.filter(({ name }) => name.includes(flags.parts));
  for (let round = 1; round <= Number(flags.rounds); round += 1) {
    for (const part of chosen) {
      if (!(await waitUntil(parts.isWhole, { seconds: 120 })))
        throw new Error(`Not whole before ${part.name}.`);
      await pause(500 + Math.random() * 1000); // at any moment of a check by Patroni, Sentinel and HAProxy
      if (performance.now() > endsAt) return;
      kills.push(await killOne(part, parts, load));
    }
  }
}

async function killOne(part: Part, parts: Parts, load: Load): Promise<Kill> {
  const from = load.sent.length;
  const at = performance.now();
  const startAgain = await part.kill();
  const restart = async () => {
    if (part.isReplaced) await isSteady(load, at);
    else await pause(SUPERVISOR);
    await startAgain();
  };
  await restart();
  await isSteady(load, at);
  const seconds = outage(load.sent.slice(from), at) / 1000;
  await waitUntil(parts.isWhole, { seconds: 120 });
  const sent = load.sent.slice(from);
  const count = (kind: Sent['outcome']) => sent.filter(({ outcome }) => outcome === kind).length;
  const others = (['refused', 'closed', 'lost', 'fault'] as const).map((kind) => `${count(kind)} ${kind}`);
  const longest = `the longest ${longestOf(sent).toFixed(1)} s (${slowestOf(sent)})`;
  say(`${part.name}: ${seconds.toFixed(1)} s; ${sent.length} requests, ${longest}, ${others.join(', ')}`);
  return { part: part.name, seconds, sent };
}

async function isSteady(load: Load, killedAt: number): Promise<void> {
  const isTrue = () => {
    const now = performance.now();
    if (now < killedAt + STEADY) return false;
    const recent = load.sent.filter(({ endedAt }) => endedAt > now - STEADY);
    const last = recent.findLast(({ isWrite, outcome }) => isWrite && outcome === 'done');
    return last !== undefined && last.endedAt > now - 500 && recent.every(isNoOutage);
  };
  if (!(await waitUntil(isTrue, { seconds: LONGEST_OUTAGE / 1000 }))) throw new Error('Writes do not go on.');
}

const isNoOutage = ({ outcome }: Sent) => outcome === 'done' || outcome === 'lost';

/** @returns milliseconds */
function outage(sent: readonly Sent[], killedAt: number): number {
  const writes = sent
    .filter(({ isWrite, outcome }) => isWrite && outcome === 'done')
    .map(({ endedAt }) => endedAt)
    .filter((endedAt) => endedAt >= killedAt)
    .sort((a, b) => a - b);
  const silences = writes.map((endedAt, each) => endedAt - (writes[each - 1] ?? killedAt));
  const lastRefusal = Math.max(...sent.filter((one) => !isNoOutage(one)).map(({ endedAt }) => endedAt));
  const next = writes.find((endedAt) => endedAt > lastRefusal) ?? killedAt;
  return Math.max(...silences, Number.isFinite(lastRefusal) ? next - killedAt : 0);
}

const slowestOf = (sent: readonly Sent[]): string | undefined => {
  const [slowest] = sent.toSorted((a, b) => b.endedAt - b.begunAt - (a.endedAt - a.begunAt));
  return slowest && `${slowest.path.replace(/_\w+/, '')} ${slowest.outcome}`;
};

/** In seconds. */
const longestOf = (sent: readonly Sent[]): number =>
  sent.reduce((most, { begunAt, endedAt }) => Math.max(most, endedAt - begunAt), 0) / 1000;

const tooLong = (kills: readonly Kill[]): string[] =>
  kills.flatMap(({ part, sent }) =>
    sent
      .filter(({ endedAt, begunAt }) => endedAt - begunAt > LONGEST_REQUEST)
      .map(({ path }) => `${part}: ${path} had no answer in time`),
  );

function report(runs: readonly Run[]): void {
  const kills = runs.flatMap((run) => run.kills);
  const faults = runs.flatMap((run) => run.faults);
  const sent = runs.reduce((sum, { load }) => sum + load.sent.length, 0);
  const count = (kind: keyof Done) => runs.reduce((sum, { load }) => sum + load.done[kind].size, 0);
  const rows = [...new Set(kills.map(({ part }) => part))].map((part) => {
    const ours = kills.filter((kill) => kill.part === part);
    const all = ours.flatMap((kill) => kill.sent);
    const ends = (kind: Sent['outcome']) => String(all.filter(({ outcome }) => outcome === kind).length);
    const seconds = ours.map((kill) => kill.seconds);
    const times = [median(seconds), Math.max(...seconds), longestOf(all)].map((time) => time.toFixed(1));
    const counts = [ends('refused'), ends('closed'), ends('lost')];
    return [part, String(ours.length), ...times, String(all.length), ...counts];
  });
  const head = [
    'Killed',
    'Times',
    'Median s',
    'Worst s',
    'Longest request s',
    'Requests',
    '503',
    'Closed, 502',
    'To repeat',
  ];
  const kept = `${count('grants')} grants, ${count('revoked')} revocations, ${count('entries')} entries and ${count('requests')} requests`;
  const text = `${table(head, rows)}

*503* counts answers of the service and of HAProxy, *To repeat* codes whose ticket the old primary of Redis had. Of ${sent}
requests, ${kept} were acknowledged; each is on the chain, or listed here: ${faults.length === 0 ? 'none is missing, and the chain is whole' : faults.slice(0, 10).join('; ')}.`;
  say(text);
  for (const fault of faults.slice(0, 100)) say(fault);
  if (flags.write)
    writeSection('Parts killed under load', `${WHAT}${flags.note && `\n${flags.note}`}\n\n${text}`);
  if (faults.length > 0) process.exitCode = 1;
}

// `exit` ends what this process started.
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(name, () => process.exit(1));
if (flags.help) say(USAGE);
else await main();
