import { expect, test } from 'vitest';
import { startJobs } from './jobs.ts';

/** A job that is run by hand: each run waits until the test lets it end. */
function manual() {
  const runs: (() => void)[] = [];
  const began: (() => void)[] = [];
  const run = () =>
    new Promise<void>((resolve) => {
      runs.push(resolve);
      began.shift()?.();
    });
  const nextRun = () => new Promise<void>((resolve) => began.push(resolve));
  return { run, runs, nextRun };
}

test('a job runs at once, and again when it has ended and its pause is over', async () => {
  const { run, runs, nextRun } = manual();
  const jobs = startJobs([{ name: 'sweep', everySeconds: 0, run }], () => {});

  expect(runs).toHaveLength(1);
  const second = nextRun();
  runs[0]?.();
  await second;

  expect(runs).toHaveLength(2);
  runs[1]?.();
  await Promise.all([jobs.stop(), nextRunOrStop(runs)]);
});

test('stopping waits for the run that is under way and begins no other', async () => {
  const { run, runs } = manual();
  const jobs = startJobs([{ name: 'sweep', everySeconds: 0, run }], () => {});

  let hasStopped = false;
  const stopped = jobs.stop().then(() => {
    hasStopped = true;
  });
  await Promise.resolve();
  expect(hasStopped).toBe(false);
  runs[0]?.();
  await stopped;

  expect(runs).toHaveLength(1);
});

test('a run that fails is reported, and the job goes on', async () => {
  const failures: [string, unknown][] = [];
  let runs = 0;
  const broken = new Error('broken');
  const twice = new Promise<void>((resolve) => {
    const run = async () => {
      runs += 1;
      if (runs === 2) resolve();
      throw broken;
    };
    const jobs = startJobs([{ name: 'sweep', everySeconds: 0, run }], (name, error) => {
      failures.push([name, error]);
      if (failures.length === 2) void jobs.stop();
    });
  });

  await twice;

  expect(failures[0]).toEqual(['sweep', broken]);
});

/** Releases all runs that began in the meantime, so that stopping does not wait for them. */
async function nextRunOrStop(runs: (() => void)[]): Promise<void> {
  await Promise.resolve();
  for (const end of runs) end();
}
