import { setTimeout as delay } from 'node:timers/promises';
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
    results.push({
      name: flow.name,
      rate,
      ...latenciesOf(await runByClock({ ...service, ...flow, seconds, rate })),
    });
  }
  return results;
}

/**
 * Begins an operation at each tick of a clock, however long those before it take. When all connections are busy,
 * the time of an operation includes its wait for one. The lateness of the driver's own timers does not count.
 */
export async function runByClock({
  port,
  seconds,
  rate,
  operation,
}: Omit<Load, 'meters' | 'connections'> & { rate: number }): Promise<number[]> {
  const clients = await Promise.all(Array.from({ length: CONNECTIONS }, () => openClient(port)));
  const latencies: number[] = [];
  const startedAt = performance.now();
  const count = Math.floor(rate * seconds);
  let next = 0;
  const loops = clients.map(async (client, connection) => {
    const operate = operation(connection);
    while (next < count) {
      let begun = startedAt + (next * 1000) / rate;
      next += 1;
      const wait = begun - performance.now();
      if (wait > 0) {
        await delay(wait);
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
