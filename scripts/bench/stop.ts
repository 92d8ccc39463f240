import { rmSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { type Server, startServer, startStores } from '../../test/harness/servers.ts';
import { makeThrowAway, sweepThrowAways } from '../machine/folders.ts';
import { type Asked, openClient } from './client.ts';
import { CONNECTIONS } from './load.ts';
import { memoryOf } from './machine.ts';
import { writeSection } from './results.ts';
import { signUp } from './tenants.ts';

const USAGE = `npm run bench -- stop [options]
  --rounds <n>  how often it is started and stopped; 20 unless said
  --note <text> what else the machine was doing, for the results
  --write       writes the outcome into scripts/bench/RESULTS.md
`;
const LOADED_FOR = 2000; // milliseconds, before the signal
const WHAT = `The process is started on an existing database, asked by ${CONNECTIONS} clients over connections that stay open, for a list
and a write in turns, and told to stop with SIGTERM in the midst of it. A request has failed when it was sent and
not answered with success. Made by \`npm run bench -- stop --write\`.`;

const { values: flags } = parseArgs({
  options: {
    rounds: { type: 'string', default: '20' },
    note: { type: 'string', default: '' },
    write: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
const say = (line: string) => process.stdout.write(`${line}\n`);

interface Round {
  readonly answered: number;
  readonly failures: readonly string[];
  /** Milliseconds from the signal to the end. */
  readonly stopSeconds: number;
  readonly startSeconds: number;
  /** Memory in MB. */
  readonly idleMemory: number;
  readonly loadedMemory: number;
}

async function bench(): Promise<void> {
  await using cleanUp = new AsyncDisposableStack();
  const stores = cleanUp.adopt(await startStores(), ({ stop }) => stop());
  await sweepThrowAways('bench');
  const folder = makeThrowAway('bench');
  cleanUp.defer(() => rmSync(folder, { recursive: true, force: true }));
  await (await startServer(stores, { folder })).stop(); // migrates

  const rounds: Round[] = [];
  for (let count = Number(flags.rounds); count > 0; count -= 1) {
    rounds.push(await stopUnderLoad(await startServer(stores, { folder })));
  }

  const failures = rounds.flatMap((round) => round.failures);
  const rows = [
    ...(flags.note ? [['Meanwhile', flags.note]] : []),
    ['Stops', String(rounds.length)],
    ['Requests answered', rounds.reduce((sum, { answered }) => sum + answered, 0).toLocaleString('en')],
    ['Requests failed', String(failures.length)],
    ['From the signal to the end', spread(rounds.map(({ stopSeconds }) => stopSeconds))],
    ['From the start to the first good answer', spread(rounds.map(({ startSeconds }) => startSeconds))],
    ['Resident memory after the start', `${Math.round(most(rounds.map((round) => round.idleMemory)))} MB`],
    ['Resident memory under load', `${Math.round(most(rounds.map((round) => round.loadedMemory)))} MB`],
  ];
  for (const [name, figure] of rows) say(`${name}: ${figure}`);
  for (const failure of failures) say(failure);
  if (flags.write) writeSection('Stopped under load', WHAT, rows);
  if (failures.length > 0) process.exitCode = 1;
}

async function stopUnderLoad({ port, pid, startSeconds, stop, exitCode }: Server): Promise<Round> {
  const idleMemory = memoryOf(pid);
  const { apiKey } = await signUp(port);
  const requests: readonly Asked[] = [
    { method: 'GET', path: '/v1/agents', apiKey },
    { method: 'POST', path: '/v1/agents', apiKey, body: { name: 'Travel booker' } },
  ];
  const clients = Array.from({ length: CONNECTIONS }, () => keepAsking(port, requests));
  await delay(LOADED_FOR);
  const loadedMemory = memoryOf(pid);
  const signalledAt = performance.now();
  await stop();
  const stopSeconds = (performance.now() - signalledAt) / 1000;
  const outcomes = await Promise.all(clients);
  const failures = outcomes.flatMap((outcome) => outcome.failures);
  if (exitCode() !== 0) failures.push(`It ended with ${exitCode()}.`);
  const answered = outcomes.reduce((sum, outcome) => sum + outcome.answered, 0);
  return { answered, failures, stopSeconds, startSeconds, idleMemory, loadedMemory };
}

/** Sends one request after another until an answer ends the connection. */
async function keepAsking(port: number, requests: readonly Asked[]) {
  const client = await openClient(port);
  const failures: string[] = [];
  let answered = 0;
  for (let isLast = false; !isLast; ) {
    for (const request of requests) {
      if (isLast) break;
      const answer = await client.ask(request).catch((error: Error) => error);
      isLast = answer instanceof Error || answer.isLast;
      if (answer instanceof Error) failures.push(answer.message);
      else if (answer.status >= 300) failures.push(`${request.method} was answered ${answer.status}.`);
      else answered += 1;
    }
  }
  client.close();
  return { answered, failures };
}

const most = (values: readonly number[]) => Math.max(...values);

function spread(seconds: readonly number[]): string {
  const middle = [...seconds].sort((a, b) => a - b)[Math.floor(seconds.length / 2)] ?? Number.NaN;
  return `${middle.toFixed(2)} s, at most ${most(seconds).toFixed(2)} s`;
}

// `exit` ends the server together with this process.
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(name, () => process.exit(1));
if (flags.help) say(USAGE);
else await bench();
