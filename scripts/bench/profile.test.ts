import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { openAlarm, pacer } from './open-loop.ts';
import { dearestOf, turnsOf, withSources } from './profile.ts';

const node = (id: number, functionName: string, url = '') => ({
  id,
  callFrame: { functionName, url, lineNumber: 9, columnNumber: 0 },
});

test('shares are of the own time in which the process worked, by function and by package', () => {
  const nodes = [
    node(1, '(idle)'),
    node(2, 'send', 'file:///here/node_modules/@fastify/cookie/lib/send.js'),
    node(3, 'write', 'file:///here/node_modules/@fastify/cookie/lib/write.js'),
    node(4, 'authorize', 'file:///here/apps/server/src/features/access/authorize.ts'),
    node(5, 'authorize', 'file:///here/apps/server/src/features/access/authorize.ts'),
    node(6, 'writev'),
    node(7, 'onread', 'node:net'),
  ];
  const samples = [1, 2, 3, 4, 5, 6, 7];
  const timeDeltas = [1000, 10, 20, 15, 25, 20, 10];

  const { functions, packages } = dearestOf({ nodes, samples, timeDeltas }, 4);

  expect(functions).toStrictEqual([
    { name: 'authorize server/src/features/access/authorize.ts:10', share: 0.4 },
    { name: 'write @fastify/cookie/lib/write.js:10', share: 0.2 },
    { name: 'writev', share: 0.2 },
    { name: 'send @fastify/cookie/lib/send.js:10', share: 0.1 },
  ]);
  expect(packages).toStrictEqual([
    { name: 'server/src/features/access/', share: 0.4 },
    { name: '@fastify/cookie', share: 0.3 },
    { name: '(native)', share: 0.2 },
    { name: 'node', share: 0.1 },
  ]);
});

test('a packed package has its own name', () => {
  const packed = node(1, 'parse', 'file:///here/node_modules/.cache/behest-packages/0a1b/pg.mjs');

  const { functions, packages } = dearestOf({ nodes: [packed], samples: [1], timeDeltas: [5] }, 1);

  expect([functions, packages]).toEqual([
    [{ name: 'parse pg.mjs:10', share: 1 }],
    [{ name: 'pg', share: 1 }],
  ]);
});

test('a packed source is named by its own place', () => {
  const folder = mkdtempSync(join(tmpdir(), 'behest-profile-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  // The tenth line of the packed file is the first of a source.
  const map = {
    version: 3,
    sources: ['../../apps/server/src/service.ts'],
    names: [],
    mappings: ';;;;;;;;;AAAA',
  };
  writeFileSync(join(folder, 'main.mjs.map'), JSON.stringify(map));
  const packed = node(1, 'openService', pathToFileURL(join(folder, 'main.mjs')).href);
  const other = node(2, 'parse', 'file:///here/pg.mjs');

  const { nodes } = withSources({ nodes: [packed, other], samples: [], timeDeltas: [] });

  expect(
    nodes.map(({ callFrame }) => [callFrame.url.replace(/^.*\/apps/, 'apps'), callFrame.lineNumber]),
  ).toEqual([
    ['apps/server/src/service.ts', 0],
    ['file:///here/pg.mjs', 9],
  ]);
});

test('a turn lasts from one pause to the next, and names what took longest', () => {
  const nodes = [node(1, '(idle)'), node(2, 'parse'), node(3, '(garbage collector)')];
  const samples = [2, 1, 2, 3, 2, 1, 1, 3, 2];
  const timeDeltas = [9_000, 1_000, 4_000, 3_000, 5_000, 2_000, 2_000, 8_000, 7_000];

  const turns = turnsOf({ nodes, samples, timeDeltas }, 10);

  expect(turns).toStrictEqual([
    {
      milliseconds: 15,
      functions: [
        { name: '(garbage collector)', share: 8 / 15 },
        { name: 'parse', share: 7 / 15 },
      ],
    },
    {
      milliseconds: 12,
      functions: [
        { name: 'parse', share: 9 / 12 },
        { name: '(garbage collector)', share: 3 / 12 },
      ],
    },
  ]);
});

/** A clock that moves by what is waited. */
function standingClock() {
  let time = 0;
  const waits: number[] = [];
  const clock = {
    now: () => time,
    delay: async (milliseconds: number) => {
      waits.push(milliseconds);
      await setImmediate(); // the waiting one goes on first
      time += milliseconds;
    },
  };
  return { clock, waits };
}

/** The times, each with that at which its wait ended. */
async function paced(times: readonly number[], { clock }: ReturnType<typeof standingClock>) {
  const until = pacer(clock);
  const ended: [time: number, at: number][] = [];
  await Promise.all(
    times.map(async (time) => {
      await until(time);
      ended.push([time, clock.now()]);
    }),
  );
  return ended;
}

test('each time is waited for, and those within a tenth of a millisecond begin together', async () => {
  const own = standingClock();
  const times = [0.5, 0.52, 0.55, 1.7, 21.7];

  const ended = await paced(times, own);

  expect(ended.map(([time]) => time)).toEqual(times);
  for (const [time, at] of ended) {
    expect(at).toBeGreaterThanOrEqual(time);
    expect(at - time).toBeLessThan(0.11);
  }
  expect(own.waits.map((wait) => Number(wait.toFixed(2)))).toEqual([0.5, 0.1, 1.1, 20]);
});

test('a wait of less than a timer can wait is kept, and takes no core', async () => {
  const alarm = openAlarm();
  onTestFinished(alarm.close);
  await alarm.ring(0.1); // the thread has started
  const [startedAt, before] = [performance.now(), process.threadCpuUsage()];

  for (let each = 0; each < 200; each += 1) await alarm.ring(1.5);

  const elapsed = performance.now() - startedAt;
  const { user, system } = process.threadCpuUsage(before);
  expect(elapsed).toBeGreaterThanOrEqual(300);
  expect((user + system) / 1000).toBeLessThan(elapsed / 2);
});

test('a time that has passed is not waited for, also after a pause', async () => {
  const own = standingClock();
  const until = pacer(own.clock);
  await until(30);

  await until(4);

  expect(own.clock.now()).toBe(30);
  expect(own.waits).toEqual([30]);
});
