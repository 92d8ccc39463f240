import { type Client, openClient, type SentRequest } from './client.ts';
import type { Meter } from './machine.ts';

/** Runs a closed loop: each connection sends its next request after the answer. */
export const CONNECTIONS = 16;

/** One operation on one connection, in one request or more. */
export type Operation = (client: Client) => Promise<unknown>;

export interface Round {
  readonly operations: number;
  readonly seconds: number;
  /** The time of each operation, in milliseconds. */
  readonly latencies: readonly number[];
  /** Processor seconds by process. */
  readonly cpu: Readonly<Record<string, number>>;
}

export interface Load {
  readonly port: number;
  readonly seconds: number;
  readonly connections?: number;
  readonly meters: Readonly<Record<string, Meter>>;
  /** @param connection the number of the connection; each has its own operation, which may keep state */
  readonly operation: (connection: number) => Operation;
}

export async function run({
  port,
  seconds,
  meters,
  operation,
  connections = CONNECTIONS,
}: Load): Promise<Round> {
  const clients = await Promise.all(Array.from({ length: connections }, () => openClient(port)));
  const latencies: number[] = [];
  const before = read(meters);
  const startedAt = performance.now();
  const endsAt = startedAt + seconds * 1000;
  const loops = clients.map(async (client, connection) => {
    const operate = operation(connection);
    for (let begun = performance.now(); begun < endsAt; ) {
      await operate(client);
      const done = performance.now();
      latencies.push(done - begun);
      begun = done;
    }
  });
  await Promise.all(loops);
  const elapsed = (performance.now() - startedAt) / 1000;
  const after = read(meters);
  for (const client of clients) client.close();
  const cpu = Object.fromEntries(
    Object.entries(after).map(([who, spent]) => [who, spent - (before[who] ?? 0)]),
  );
  return { operations: latencies.length, seconds: elapsed, latencies, cpu };
}

const read = (meters: Load['meters']): Record<string, number> =>
  Object.fromEntries(Object.entries(meters).map(([who, meter]) => [who, meter()]));

/** @throws when the answer is not the measured answer */
export async function demand(client: Client, request: SentRequest, status: number): Promise<Buffer> {
  const answer = await client.ask(request);
  if (answer.status === status) return answer.body;
  throw new Error(`${request.method} ${request.path} answered ${answer.status}: ${answer.body}`);
}

export interface Summary {
  readonly rate: number;
  readonly p50: number;
  readonly p99: number;
  /** Processor milliseconds of one operation, by process. */
  readonly cpu: Readonly<Record<string, number>>;
}

/** The median rate of the rounds; the latencies are of all rounds. */
export function summaryOf(rounds: readonly Round[]): Summary {
  const who = Object.keys(rounds[0]?.cpu ?? {});
  const spent = (name: string) =>
    median(rounds.map(({ cpu, operations }) => ((cpu[name] ?? 0) * 1000) / operations));
  return {
    rate: median(rounds.map(({ operations, seconds }) => operations / seconds)),
    ...latenciesOf(rounds.flatMap((round) => round.latencies)),
    cpu: Object.fromEntries(who.map((name) => [name, spent(name)])),
  };
}

export function latenciesOf(latencies: readonly number[]): { readonly p50: number; readonly p99: number } {
  const sorted = [...latencies].sort((a, b) => a - b);
  const at = (share: number) => sorted[Math.floor(sorted.length * share)] ?? Number.NaN;
  return { p50: at(0.5), p99: at(0.99) };
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  const [low, high] = [sorted[Math.ceil(middle) - 1], sorted[Math.floor(middle)]];
  return ((low ?? Number.NaN) + (high ?? Number.NaN)) / 2;
}

/** One client, one request after another. @returns milliseconds */
export async function timed(
  port: number,
  tries: number,
  { path, apiKey }: { readonly path: string; readonly apiKey: string },
): Promise<{ p50: number }> {
  const client = await openClient(port);
  const times: number[] = [];
  for (let each = 0; each < tries; each += 1) {
    const begun = performance.now();
    await demand(client, { method: 'GET', path, apiKey }, 200);
    times.push(performance.now() - begun);
  }
  client.close();
  return { p50: median(times) };
}
