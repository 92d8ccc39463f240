import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { openClient } from './client.ts';
import { type Load, latenciesOf } from './load.ts';
import type { Measured, Target } from './rounds.ts';

/** More than wait at once at half of the highest rate. */
export const CONNECTIONS = 64;

export interface OpenLoop {
  readonly name: string;
  readonly rate: number;
  readonly p50: number;
  readonly p99: number;
  /** Milliseconds of the driver, to about one. As long, an answer that has come stays unread. */
  readonly longestTurn: number;
}

/** Measures each flow with requests that come by the clock, at half of the rate that it has reached. */
export async function measureOpenLoop(
  service: Target,
  measured: readonly Measured[],
  seconds: number,
): Promise<OpenLoop[]> {
  const results: OpenLoop[] = [];
  for (const { flow, summary } of measured) {
    await flow.prepare?.();
    const rate = summary.rate / 2;
    const turns = monitorEventLoopDelay({ resolution: 1 });
    turns.enable();
    const latencies = await runByClock({ ...service, ...flow, seconds, rate });
    turns.disable();
    results.push({ name: flow.name, rate, ...latenciesOf(latencies), longestTurn: turns.max / 1e6 });
  }
  return results;
}

/**
 * Begins an operation at each tick of a clock, however long those before it take. When all connections are busy,
 * the time of an operation includes its wait for one. The lateness of the driver itself does not count.
 */
export async function runByClock({
  port,
  seconds,
  rate,
  operation,
}: Omit<Load, 'meters' | 'connections'> & { rate: number }): Promise<number[]> {
  const clients = await Promise.all(Array.from({ length: CONNECTIONS }, () => openClient(port)));
  const latencies: number[] = [];
  const until = pacer();
  const startedAt = performance.now();
  const count = Math.floor(rate * seconds);
  let next = 0;
  const loops = clients.map(async (client, connection) => {
    const operate = operation(connection);
    while (next < count) {
      let begun = startedAt + (next * 1000) / rate;
      next += 1;
      if (begun > performance.now()) {
        await until(begun);
        begun = performance.now();
      }
      await operate(client);
      latencies.push(performance.now() - begun);
    }
  });
  await Promise.all(loops);
  for (const client of clients) client.close();
  return latencies;
}

interface Clock {
  readonly now: () => number;
  readonly delay: (milliseconds: number) => Promise<void>;
  /** Waits for the next turn of the event loop. */
  readonly nextTurn: () => Promise<void>;
}

const REAL: Clock = { now: () => performance.now(), delay: setTimeout, nextTurn: setImmediate };

/**
 * Milliseconds. A timer of Node fires up to one late, which times that are further apart than this do not notice. To spin
 * for longer would take a core from what is measured.
 */
const SPIN = 2;

/**
 * Makes a function that waits until a time of `performance.now()`. It has to be asked in the order of the times. A
 * short wait spins from one turn of the event loop to the next, so that answers are read meanwhile.
 */
export function pacer({ now, delay, nextTurn }: Clock = REAL): (time: number) => Promise<void> {
  const waiting: { readonly time: number; readonly go: () => void }[] = [];
  let isRunning = false;

  const run = async () => {
    isRunning = true;
    for (let [first] = waiting; first; [first] = waiting) {
      const wait = first.time - now();
      if (wait > SPIN) await delay(wait);
      else if (wait > 0) await nextTurn();
      else waiting.shift()?.go();
    }
    isRunning = false;
  };

  return (time) =>
    new Promise((go) => {
      waiting.push({ time, go });
      if (!isRunning) void run();
    });
}
