import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { pacer } from './open-loop.ts';

/** A clock that moves by what is waited, and by a tenth of a millisecond with each turn. */
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
    nextTurn: async () => {
      await setImmediate();
      time += 0.1;
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

test('times below two milliseconds apart are met without a timer, in their order', async () => {
  const own = standingClock();
  const times = [0.5, 0.55, 1.7, 3.4, 5.3];

  const ended = await paced(times, own);

  expect(ended.map(([time]) => time)).toEqual(times);
  for (const [time, at] of ended) {
    expect(at).toBeGreaterThanOrEqual(time);
    expect(at - time).toBeLessThan(0.11);
  }
  expect(own.waits).toEqual([]);
});

test('a longer wait takes no core', async () => {
  const own = standingClock();

  const ended = await paced([20, 40, 41], own);

  expect(own.waits).toEqual([20, 20]);
  expect(ended.map(([, at]) => Math.round(at))).toEqual([20, 40, 41]);
});

test('a time that has passed is not waited for, also after a pause', async () => {
  const own = standingClock();
  const until = pacer(own.clock);
  await until(30);

  await until(4);

  expect(own.clock.now()).toBe(30);
  expect(own.waits).toEqual([30]);
});
