import { constants, getPriority, setPriority } from 'node:os';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Worker } from 'node:worker_threads';
import { openClient } from './client.ts';
import { type Load, latenciesOf } from './load.ts';
import { driverMeter } from './machine.ts';
import { floorOperation, type Measured, type Target } from './rounds.ts';

/** More than wait at once at half of the highest rate. */
export const CONNECTIONS = 64;

const WARM_UP = 1; // seconds

export interface OpenLoop {
  readonly name: string;
  readonly rate: number;
  readonly p50: number;
  readonly p99: number;
  /** Of the flow's floor, by the same clock, right after it: what the machine gives to anybody. */
  readonly floorP99: number;
  /** Milliseconds of the driver, to about one. As long, an answer that has come stays unread. */
  readonly longestTurn: number;
  /** How much of a core the driver took. */
  readonly driver: number;
}

/** Measures each flow, and then its floor, with requests that come by the clock, at half of the rate that the flow has reached. */
export async function measureOpenLoop(
  { service, floor }: Readonly<Record<'service' | 'floor', Target>>,
  measured: readonly Measured[],
  { seconds, developers }: { seconds: number; developers: number },
): Promise<OpenLoop[]> {
  const results: OpenLoop[] = [];
  for (const { flow, summary } of measured) {
    await flow.prepare?.();
    const rate = summary.rate / 2;
    // Each connection makes what it spends in its first request: that is set-up, and a burst of it is a percent of all.
    await runByClock({ ...service, ...flow, seconds: WARM_UP, rate });
    const turns = monitorEventLoopDelay({ resolution: 1 });
    turns.enable();
    const [startedAt, before] = [performance.now(), driverMeter()];
    const latencies = await runByClock({ ...service, ...flow, seconds, rate });
    const driver = ((driverMeter() - before) * 1000) / (performance.now() - startedAt);
    turns.disable();
    const below = { ...floor, operation: floorOperation(flow.floor, developers), rate };
    await runByClock({ ...below, seconds: WARM_UP });
    const { p99: floorP99 } = latenciesOf(await runByClock({ ...below, seconds }));
    const longestTurn = turns.max / 1e6;
    results.push({ name: flow.name, rate, ...latenciesOf(latencies), floorP99, longestTurn, driver });
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
  const wasPriority = getPriority();
  prefer(constants.priority.PRIORITY_HIGH);
  const alarm = openAlarm();
  const until = pacer({ now: () => performance.now(), delay: alarm.ring });
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
  await Promise.all(loops).finally(() => {
    alarm.close();
    prefer(wasPriority);
    for (const client of clients) client.close();
  });
  return latencies;
}

/**
 * The clients of a service have machines of their own. Here the driver's loop gets a core as soon as an answer has come, so
 * that the answer's time is that of the service. The system may refuse it.
 */
function prefer(priority: number): void {
  try {
    setPriority(priority);
  } catch {
    // only root may rise
  }
}

interface Alarm {
  /** Resolves after that time, which may have fractions. One at a time. */
  readonly ring: (milliseconds: number) => Promise<void>;
  readonly close: () => void;
}

/** Runs in a thread, and sleeps there until it is asked, and then for as long as it is asked to. */
const SLEEPER = `
  const { parentPort, workerData: { asked, wait } } = require('node:worker_threads');
  for (let answered = 0; ; answered += 1) {
    Atomics.wait(asked, 0, answered);
    Atomics.wait(asked, 1, 0, wait[0]);
    parentPort.postMessage(0);
  }`;

/**
 * A timer of Node fires up to a millisecond late, and a loop that looks at the clock takes one of two cores from what is
 * measured. A thread that sleeps is late by some fifty microseconds.
 */
export function openAlarm(): Alarm {
  const asked = new Int32Array(new SharedArrayBuffer(8));
  const wait = new Float64Array(new SharedArrayBuffer(8));
  const thread = new Worker(SLEEPER, { eval: true, workerData: { asked, wait } });
  let answer = () => {};
  thread.on('message', () => answer());
  return {
    ring: (milliseconds) =>
      new Promise((resolve) => {
        answer = resolve;
        wait[0] = milliseconds;
        Atomics.add(asked, 0, 1);
        Atomics.notify(asked, 0);
      }),
    close: () => void thread.terminate(),
  };
}

interface Clock {
  readonly now: () => number;
  readonly delay: (milliseconds: number) => Promise<void>;
}

/** Milliseconds. What is due within that time begins together, since to sleep and wake costs a tenth of it. */
const TOGETHER = 0.1;

/** Makes a function that waits until a time of the clock. It has to be asked in the order of the times. */
export function pacer({ now, delay }: Clock): (time: number) => Promise<void> {
  const waiting: { readonly time: number; readonly go: () => void }[] = [];
  let isRunning = false;

  const run = async () => {
    isRunning = true;
    for (let [first] = waiting; first; [first] = waiting) {
      const wait = first.time - now();
      if (wait > 0) await delay(Math.max(wait, TOGETHER));
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
