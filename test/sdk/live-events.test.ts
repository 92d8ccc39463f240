import { Behest, type BehestEvent, type Gap } from '@behest/sdk';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { startListening } from '../../apps/server/test/app/listening.ts';
import { streamEvents } from '../../packages/sdk/src/client/live-events.ts';

let service: Awaited<ReturnType<typeof startListening>>;
beforeAll(async () => {
  service = await startListening({ isShared: true, startsAt: new Date().toISOString() });
});
afterAll(async () => {
  service?.app.server.closeAllConnections();
  await service?.stop();
});

/** A client with the way to its service, which a test cuts. */
async function newClient() {
  const { apiKey } = await Behest.signup({ name: 'Acme', mode: 'sandbox' }, { baseUrl: service.url });
  const way = { streams: 0, asked: [] as (string | null)[], cut: new AbortController() };
  const send = async (url: string, init: RequestInit) => {
    if (!url.includes('/v1/events/stream')) return fetch(url, init);
    way.asked.push(new Headers(init.headers).get('last-event-id'));
    way.cut = new AbortController();
    const signal = AbortSignal.any([way.cut.signal, ...(init.signal ? [init.signal] : [])]);
    const answer = await fetch(url, { ...init, signal });
    way.streams += 1;
    return answer;
  };
  const behest = new Behest({ apiKey, baseUrl: service.url, fetch: send });
  return { behest, way, connection: { baseUrl: service.url, fetch: send, key: { apiKey } } };
}

const typesOf = (events: readonly (BehestEvent | Gap)[]) => events.map(({ type }) => type);

test('events are handed over, and those of a break come after it', async () => {
  const { behest, way, connection } = await newClient();
  const heard: (BehestEvent | Gap)[] = [];
  const ending = new AbortController();
  const follow = async () => {
    const options = { types: ['agent.*'], signal: ending.signal };
    for await (const event of streamEvents(connection, options, async () => undefined)) heard.push(event);
  };
  const following = follow();
  await vi.waitUntil(() => way.streams === 1);

  const { id } = await behest.agents.register({ name: 'Travel booker' });
  await vi.waitUntil(() => heard.length === 1, 10_000);
  way.cut.abort();
  await behest.agents.suspend(id);
  await vi.waitUntil(() => heard.length === 2, 10_000);
  ending.abort();
  await following;

  expect(typesOf(heard)).toEqual(['agent.created', 'agent.suspended']);
  expect(way.asked.slice(0, 2)).toEqual([null, Object(heard[0]).id]);
});

test('a break before the first event is told as a gap', async () => {
  const { way, connection } = await newClient();
  const events = streamEvents(connection, {}, async () => undefined);

  const next = events.next();
  await vi.waitUntil(() => way.streams === 1);
  way.cut.abort();

  expect((await next).value).toEqual({ type: 'gap', data: { cursor: null } });
  await events.return(undefined);
});

test('errors of a handler reach the program, and the subscription goes on', async () => {
  const { behest, way } = await newClient();
  const errors: unknown[] = [];
  const heard: string[] = [];
  const subscription = behest.events.subscribe(
    ({ type }) => {
      heard.push(type);
      if (heard.length === 1) throw new Error('not yet');
    },
    { types: 'agent.*', onError: (error) => errors.push(error) },
  );
  await vi.waitUntil(() => way.streams === 1);

  const { id } = await behest.agents.register({ name: 'Travel booker' });
  await vi.waitUntil(() => heard.length === 1, 10_000);
  await behest.agents.suspend(id);
  await vi.waitUntil(() => heard.length === 2, 10_000);
  subscription.unsubscribe();
  await subscription.done;

  expect(errors).toEqual([new Error('not yet')]);
});

test('a refusal for good ends the subscription with its error', async () => {
  const { behest } = await newClient();

  await expect(behest.events.subscribe(() => undefined, { types: 'nonsense.' }).done).rejects.toMatchObject({
    ...{ name: 'BehestValidationError', statusCode: 400 },
  });
  const stranger = new Behest({ apiKey: 'bh_test_nobody', baseUrl: service.url });
  await expect(stranger.events.stream().next()).rejects.toMatchObject({ statusCode: 401 });
});
