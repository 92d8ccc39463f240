import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { openClient } from './client.ts';
import { CONNECTIONS } from './load.ts';
import { memoryOf } from './machine.ts';
import { flowsOf } from './measured-flows.ts';
import { writeSection } from './results.ts';
import type { Flow } from './rounds.ts';
import { type Scene, setScene } from './scene.ts';
import { signUp } from './tenants.ts';

const USAGE = `npm run bench -- soak [options]
  --minutes <n>  how long; 60 unless said
  --rate <n>     operations a second, each flow in turn; 100 unless said
  --note <text>  what else the machine was doing, for the results
  --write        writes the outcome into scripts/bench/RESULTS.md
`;
const WHAT = `The process serves every flow of the bench in turns, by the clock. Its resident memory is read once a minute.
Made by \`npm run bench -- soak --write\`.`;

const { values: flags } = parseArgs({
  options: {
    minutes: { type: 'string', default: '60' },
    rate: { type: 'string', default: '100' },
    note: { type: 'string', default: '' },
    write: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
const say = (line: string) => process.stdout.write(`${line}\n`);

async function soak(): Promise<void> {
  await using cleanUp = new AsyncDisposableStack();
  const scene = await setScene(cleanUp);
  const tenant = await signUp(scene.server.port, CONNECTIONS);
  // A revocation needs a prepared grant of its own, and `authorize → token` makes what it would end.
  const flows = flowsOf([tenant], scene.db).filter(({ prepare }) => !prepare);
  const minutes = Number(flags.minutes);
  const [operations, memory] = await Promise.all([
    askFor(minutes, scene, flows),
    readMemory(minutes, scene.server.pid),
  ]);
  const half = Math.ceil(memory.length / 2);
  const rows = [
    ...(flags.note ? [['Meanwhile', flags.note]] : []),
    ['Minutes', String(minutes)],
    ['Operations', operations.toLocaleString('en')],
    ['Memory after the first minute', `${memory[0]} MB`],
    ['Most in the first half', `${Math.max(...memory.slice(0, half))} MB`],
    ['Most in the second half', `${Math.max(...memory.slice(-half))} MB`],
    ['At the end', `${memory.at(-1)} MB`],
  ];
  for (const [name, figure] of rows) say(`${name}: ${figure}`);
  if (flags.write) writeSection('Memory over time', WHAT, rows);
}

/** @returns the resident memory at the end of each minute, in MB */
async function readMemory(minutes: number, pid: number): Promise<number[]> {
  const memory: number[] = [];
  while (memory.length < minutes) {
    await delay(60_000);
    const now = Math.round(memoryOf(pid));
    memory.push(now);
    say(`minute ${memory.length}: ${now} MB`);
  }
  return memory;
}

/** Does the flows in turns on each connection. @returns how many operations it did */
async function askFor(minutes: number, { server }: Scene, flows: readonly Flow[]): Promise<number> {
  const endsAt = performance.now() + minutes * 60_000;
  const pause = (CONNECTIONS * 1000) / Number(flags.rate);
  let operations = 0;
  const loops = Array.from({ length: CONNECTIONS }, async (_, connection) => {
    const client = await openClient(server.port);
    const turns = flows.map(({ operation }) => operation(connection));
    while (performance.now() < endsAt) {
      for (const operate of turns) {
        await Promise.all([operate(client), delay(pause)]);
        operations += 1;
      }
    }
    client.close();
  });
  await Promise.all(loops);
  return operations;
}

// `exit` ends the server together with this process.
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(name, () => process.exit(1));
if (flags.help) say(USAGE);
else await soak();
