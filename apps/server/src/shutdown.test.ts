import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createShutdown } from './shutdown.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function start() {
  const done: string[] = [];
  const lines: string[] = [];
  const exits: number[] = [];
  const line = (level: string) => (_facts: object, message?: string) =>
    void lines.push(`${level}: ${message}`);
  const logger = { error: line('error'), fatal: line('fatal') };
  let exited = (_code: number) => {};
  const ended = new Promise<number>((resolve) => {
    exited = resolve;
  });
  const exit = (code: number) => {
    exits.push(code);
    exited(code);
  };
  const shutdown = createShutdown({ logger, timeoutSeconds: 25, exit });
  const part = (name: string) => async () => void done.push(name);
  return { shutdown, done, lines, exits, ended, part };
}

test('a stop ends the parts by phase, whatever the order in which they came, and exits with 0', async () => {
  const { shutdown, done, part, ended } = start();
  shutdown.add('stores', part('database'));
  shutdown.add('telemetry', part('spans'));
  shutdown.add('jobs', part('jobs'));
  shutdown.add('requests', part('listener'));
  shutdown.add('buffers', part('counters'));
  expect(shutdown.isStopping()).toBe(false);

  shutdown.stop();

  expect(shutdown.isStopping()).toBe(true);
  expect(await ended).toBe(0);
  expect(done).toEqual(['listener', 'jobs', 'counters', 'database', 'spans']);
});

test('a phase begins when every part of the one before has ended, and these end side by side', async () => {
  const { shutdown, done, part, ended } = start();
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  shutdown.add('requests', () => held);
  shutdown.add('requests', part('streams'));
  shutdown.add('jobs', part('jobs'));

  shutdown.stop();
  await vi.advanceTimersByTimeAsync(10_000);
  expect(done).toEqual(['streams']);
  release();

  expect(await ended).toBe(0);
  expect(done).toEqual(['streams', 'jobs']);
});

test('a part that fails is logged, stops no other, and makes the code 1', async () => {
  const { shutdown, done, lines, part, ended } = start();
  shutdown.add('requests', () => Promise.reject(new Error('broken')));
  shutdown.add('stores', part('database'));

  shutdown.stop();

  expect(await ended).toBe(1);
  expect(done).toEqual(['database']);
  expect(lines).toEqual(['error: a part of the service did not end in order']);
});

test('the process ends with 1 when its time is over, and not before', async () => {
  const { shutdown, exits, lines } = start();
  shutdown.add('requests', () => new Promise(() => {}));

  shutdown.stop();
  await vi.advanceTimersByTimeAsync(24_999);
  expect(exits).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);

  expect(exits).toEqual([1]);
  expect(lines).toEqual(['error: not stopped within 25 seconds: ended as it was']);
});

test('a second stop ends the process at once with 1', () => {
  const { shutdown, exits } = start();
  shutdown.add('requests', () => new Promise(() => {}));

  shutdown.stop();
  shutdown.stop();

  expect(exits).toEqual([1]);
});

test('an unforeseen failure is logged once, and stops the process in order with 1', async () => {
  const { shutdown, done, lines, part, ended } = start();
  shutdown.add('requests', part('listener'));

  shutdown.fail(new Error('one'));
  shutdown.fail(new Error('two'));

  expect(await ended).toBe(1);
  expect(done).toEqual(['listener']);
  expect(lines).toEqual(['fatal: unforeseen failure']);
});

test('an unforeseen failure during a stop does not interrupt it, and makes the code 1', async () => {
  const { shutdown, exits, part, ended } = start();
  shutdown.add('jobs', part('jobs'));

  shutdown.stop();
  shutdown.fail(new Error('late'));

  expect(await ended).toBe(1);
  expect(exits).toEqual([1]);
});
