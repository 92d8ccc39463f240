import { expect, test } from 'vitest';
import { startSandbox } from '../../../../test/app/flow.ts';
import { startListening } from '../../../../test/app/listening.ts';
import { type Developer, startApp } from '../../../../test/app/start-app.ts';
import { emit, follow, listedTo } from '../../../../test/app/streams.ts';
import type { Executor } from '../../../platform/db/db.ts';
import { retentionOfEvents } from './events.feature.ts';

const HOURS = 3600;
const some = (count: number) => Array.from({ length: count }, () => 'agent.updated');
const run = (deps: Parameters<typeof retentionOfEvents>[0], signal = new AbortController().signal) =>
  retentionOfEvents(deps).run(signal);

async function countKept(db: Executor, developers: readonly Developer[]): Promise<number> {
  const ids = developers.map(({ developerId }) => developerId);
  const { count } = await db
    .selectFrom('outboxEvents')
    .select(({ fn }) => fn.countAll<string>().as('count'))
    .where('developerId', 'in', ids)
    .executeTakeFirstOrThrow();
  return Number(count);
}

test('events are deleted after their retention, and not before', async () => {
  const { service, acme, db, advance } = await startSandbox();
  await emit(service, acme, some(5));
  advance(1 * HOURS);
  await emit(service, acme, some(3));
  advance(71 * HOURS);
  const shown = await listedTo(acme);
  await run(service);

  expect(shown).toHaveLength(1 + 5 + 3);
  expect(await listedTo(acme)).toEqual(shown);
  advance(0.5 * HOURS);
  await run(service);

  expect(await countKept(db, [acme])).toBe(3);
  expect(await listedTo(acme)).toHaveLength(3);
});

test('several instances delete at once, and each skips the events that another is deleting', async () => {
  const one = await startSandbox();
  const two = await startApp();
  const early = await Promise.all(Array.from({ length: 4 }, () => one.asDeveloper()));
  for (const each of early) await emit(one, each, some(25));
  one.advance(73 * HOURS);
  const late = await one.asDeveloper();
  const at = { clock: one.clock, batch: 10, atOnce: 2 }; // several batches, and several reads

  await Promise.all([run({ ...one, ...at }), run({ ...two, ...at }), run({ ...two, ...at })]);

  expect(await countKept(one.db, early)).toBe(0);
  expect(await listedTo(late)).toHaveLength(1);
});

test('a cursor, a stream and the numbers continue after all earlier events were deleted', async () => {
  const service = await startListening();
  const acme = await service.asDeveloper();
  const { url } = service;
  const [first] = await emit(service, acme, some(30_000));
  const open = await follow({ url, apiKey: acme.apiKey });
  const { nextCursor } = (await acme('GET', '/v1/events?limit=10')).json();
  service.advance(73 * HOURS);
  await run(service);
  expect(await countKept(service.db, [acme])).toBe(0);

  const [last] = await emit(service, acme, ['agent.created']);

  const page = async (query: string) => (await acme('GET', `/v1/events?${query}`)).json();
  const expected = { events: [expect.objectContaining({ id: last })], nextCursor: null };
  expect(await page('')).toEqual(expected); // one page, although so many numbers are gone
  expect(await page(`cursor=${nextCursor}`)).toEqual(expected);
  expect(await open.first(1)).toEqual([last]);
  const resumed = await follow({ url, apiKey: acme.apiKey, ...(first && { lastEventId: first }) });
  expect(await resumed.first(1)).toEqual([last]);
  expect(resumed.frames.map(({ event }) => event)).toEqual([undefined, 'gap', 'agent.created']);
});

test('a process that is stopping deletes no more events', async () => {
  const { service, acme, db, advance } = await startSandbox();
  await emit(service, acme, some(10));
  advance(73 * HOURS);

  await run(service, AbortSignal.abort());

  expect(await countKept(db, [acme])).toBe(11);
});
