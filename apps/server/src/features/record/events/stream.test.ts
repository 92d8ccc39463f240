import { once } from 'node:events';
import { EventSource } from 'eventsource';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { grantTo, registerAgent } from '../../../../test/app/flow.ts';
import { startListening } from '../../../../test/app/listening.ts';
import {
  countOpen,
  type Event,
  emit,
  follow,
  linesOf,
  listedTo,
  open,
} from '../../../../test/app/streams.ts';
import { envelopeToOcsf } from './index.ts';

type Instance = Awaited<ReturnType<typeof startListening>>;

/** Two instances of the service over one database and one Redis. */
let here: Instance;
let there: Instance;
beforeAll(async () => {
  [here, there] = [await startListening({ isShared: true }), await startListening({ isShared: true })];
});
afterAll(async () => {
  await Promise.all([here?.stop(), there?.stop()]);
});

async function developer() {
  const acme = await here.asDeveloper({ mode: 'sandbox' });
  const { apiKey } = acme;
  return {
    acme,
    followHere: (query = '', lastEventId = '') => follow({ url: here.url, apiKey, query, lastEventId }),
    followThere: (query = '', lastEventId = '') => follow({ url: there.url, apiKey, query, lastEventId }),
  };
}

const idsOf = (events: readonly { readonly id: string }[]) => events.map(({ id }) => id);
const some = (type: string, count: number) => Array.from({ length: count }, () => type);

describe('a live stream', () => {
  test('has the events after its beginning, each as the text of the list', async () => {
    const { acme, followHere } = await developer();
    await registerAgent(acme, 'Before');

    const stream = await followHere();
    const { grantId } = await grantTo(acme);
    await acme('DELETE', `/v1/grants/${grantId}`);
    await stream.first(6);

    expect(stream.status).toBe(200);
    expect(stream.headers).toMatchObject({
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    });
    const listed = (await listedTo(acme)).slice(2);
    expect(listed.map(({ type }) => type)).toEqual([
      'agent.created',
      'authorization.requested',
      'authorization.approved',
      'grant.created',
      'token.issued',
      'grant.revoked',
    ]);
    expect(stream.frames).toEqual([
      { comment: 'keepalive' },
      ...listed.map((event) => ({ id: event.id, event: event.type, data: JSON.stringify(event) })),
    ]);
  });

  test.for(['ndjson', 'ocsf'] as const)('has an event a line as %s, and resumes after it', async (format) => {
    const { acme } = await developer();
    const lines = await linesOf({
      url: here.url,
      apiKey: acme.apiKey,
      query: `format=${format}&types=agent.*`,
    });
    await registerAgent(acme);
    const [first = ''] = await lines.first(1);
    lines.close();
    await registerAgent(acme, 'Second');

    const [one, other] = await listedTo(acme, 'types=agent.*');
    const inFormat = (event: Event | undefined) =>
      format === 'ocsf' ? envelopeToOcsf(JSON.stringify(event)) : JSON.stringify(event);
    expect(lines.type).toBe('application/x-ndjson; charset=utf-8');
    expect(first).toBe(inFormat(one));
    const after = { lastEventId: String(one?.id) };
    const resumed = await linesOf({
      url: here.url,
      apiKey: acme.apiKey,
      query: `format=${format}&types=agent.*`,
      ...after,
    });
    expect(await resumed.first(1)).toEqual([inFormat(other)]);
    const unknown = { lastEventId: 'evt_0' };
    const holed = await linesOf({
      url: here.url,
      apiKey: acme.apiKey,
      query: `format=${format}`,
      ...unknown,
    });
    const [gap = ''] = await holed.first(1);
    expect(JSON.parse(gap)).toMatchObject(
      format === 'ocsf' ? { class_uid: 0, activity_name: 'gap' } : { type: 'gap' },
    );
    expect((await acme('GET', '/v1/events/stream?format=xml')).statusCode).toBe(400);
  });

  test('has the events of another instance, in the order of their commits', async () => {
    const { acme, followHere, followThere } = await developer();
    const [one, other] = [await followHere(), await followThere()];
    const elsewhere = there.calling(acme.apiKey);

    await Promise.all(
      Array.from({ length: 20 }, (_, each) =>
        (each % 2 ? acme : elsewhere)('POST', '/v1/agents', { name: `Agent ${each}` }),
      ),
    );

    const committed = idsOf(await listedTo(acme, 'types=agent.*'));
    expect(await one.first(20)).toEqual(committed);
    expect(await other.first(20)).toEqual(committed);
  });

  test('gets an event right after its commit at either instance, without waiting for a poll', async () => {
    const { acme, followHere, followThere } = await developer();
    await vi.waitUntil(async () => (await countOpen(here.url)) + (await countOpen(there.url)) === 0);
    vi.useFakeTimers({ toFake: ['setInterval'] }); // the poll's timer
    onTestFinished(() => void vi.useRealTimers());
    const [one, other] = [await followHere(), await followThere()];

    await registerAgent(acme);

    expect([await one.first(1), await other.first(1)]).toEqual([
      idsOf(await listedTo(acme, 'types=agent.*')),
      idsOf(await listedTo(acme, 'types=agent.*')),
    ]);
  });

  test('has the requested types', async () => {
    const { acme, followHere } = await developer();
    const all = await followHere();
    const some = await followHere('types=token.*,agent.created');
    const debits = await followHere('types=budget.debited');
    await grantTo(acme);
    await emit(here, acme, ['budget.debited', 'budget.threshold']);

    await all.first(6);
    await debits.first(1);
    await some.first(2);

    expect(all.events().map(({ type }) => type)).not.toContain('budget.debited');
    expect(all.events().at(-1)?.type).toBe('budget.threshold');
    expect(some.events().map(({ type }) => type)).toEqual(['agent.created', 'token.issued']);
    expect(debits.events().map(({ type }) => type)).toEqual(['budget.debited']);
  });

  test('T3 has no event of another developer', async () => {
    const { acme, followHere } = await developer();
    const stranger = await developer();
    const [own, foreign] = [await followHere(), await stranger.followHere()];

    await registerAgent(acme);
    await registerAgent(stranger.acme);
    await own.first(1);
    await foreign.first(1);

    expect(own.events().map(({ developerId }) => developerId)).toEqual([acme.developerId]);
    expect(foreign.events().map(({ developerId }) => developerId)).toEqual([stranger.acme.developerId]);
  });

  test('does not resume after an event of another developer', async () => {
    const { followHere } = await developer();
    const stranger = await developer();
    const [foreign] = await emit(here, stranger.acme, some('agent.created', 3));

    const stream = await followHere('', foreign);

    await stream.first(1);
    expect(stream.frames.slice(0, 2)).toEqual([
      { comment: 'keepalive' },
      { event: 'gap', data: '{"type":"gap","data":{"cursor":"0"}}' },
    ]);
  });

  test.each([
    ['types=grant.made', 'types.0', 'not_allowed'],
    ['types=', 'types', 'too_short'],
    ['lastEventId=', 'lastEventId', 'format'],
  ])('is refused for the query %s', async (query, path, problem) => {
    const { acme } = await developer();

    const answer = await acme('GET', `/v1/events/stream?${query}`);

    expect([answer.statusCode, answer.json().details.fields]).toEqual([
      400,
      expect.arrayContaining([{ path, problem }]),
    ]);
  });

  test('I15 takes a key from the header only', async () => {
    const { acme } = await developer();

    for (const query of ['apiKey', 'api_key', 'access_token', 'token', 'authorization']) {
      const answer = await here.app.inject(`/v1/events/stream?${query}=${acme.apiKey}`);
      expect(answer.statusCode, query).toBe(401);
    }
    const cookie = await here.app.inject({
      url: '/v1/events/stream',
      headers: { cookie: `apiKey=${acme.apiKey}` },
    });
    expect(cookie.statusCode).toBe(401);
  });

  test('answers HEAD without staying open', async () => {
    const { acme } = await developer();
    const headers = { authorization: `Bearer ${acme.apiKey}` };
    await vi.waitUntil(async () => (await countOpen(here.url)) === 0, { timeout: 5000 });

    const answer = await fetch(`${here.url}/v1/events/stream`, { method: 'HEAD', headers });

    expect(answer.status).toBe(200);
    await vi.waitUntil(async () => (await countOpen(here.url)) === 0, { timeout: 5000 });
  });
});

describe('a resumed stream', () => {
  test('continues at the other instance after the last event that the client saw', async () => {
    const { acme, followHere, followThere } = await developer();
    const before = await followHere();
    await emit(here, acme, some('agent.created', 3));
    const seen = await before.first(3);
    before.close();
    const missed = await emit(here, acme, some('agent.updated', 120));

    const [byHeader, byQuery] = [
      await followThere('', seen[1]),
      await followThere(`lastEventId=${seen.at(-1)}`),
    ];
    const later = await emit(there, acme, some('agent.revoked', 5));

    expect(await byHeader.first(126)).toEqual([seen[2], ...missed, ...later]);
    expect(await byQuery.first(125)).toEqual([...missed, ...later]);
  });

  test('has each event once, also when more events happen while it catches up', async () => {
    const { acme, followHere, followThere } = await developer();
    const [first] = await emit(here, acme, some('agent.created', 300));
    const writing = (async () => {
      for (let each = 0; each < 60; each += 1) await emit(here, acme, some('agent.updated', 7));
    })();

    const streams = [await followHere('', first), await followThere('', first), await followHere()];
    await writing;

    const all = idsOf(await listedTo(acme, 'types=agent.*&limit=500'));
    for (const stream of streams) {
      await stream.until(() => stream.frames.at(-1)?.id === all.at(-1));
      const ids = idsOf(stream.events());
      expect(ids).toEqual(all.slice(all.length - ids.length)); // in order, without a gap or a repetition
    }
    expect(streams[0]?.events()).toHaveLength(all.length - 1);
    expect(streams[1]?.events()).toHaveLength(all.length - 1);
  });

  test('gets a gap after a thousand missed events, with the cursor at which the list has the rest', async () => {
    const { acme, followHere } = await developer();
    const [first, ...rest] = await emit(here, acme, some('agent.created', 1101));

    const stream = await followHere('', first);
    await stream.until(() => stream.frames.some(({ event }) => event === 'gap'));
    const [last] = await emit(here, acme, ['agent.revoked']);
    await stream.first(1001);

    expect(idsOf(stream.events())).toEqual([...rest.slice(0, 1000), last]);
    const gap = JSON.parse(stream.frames.find(({ event }) => event === 'gap')?.data ?? '');
    expect(gap).toEqual({ type: 'gap', data: { cursor: expect.any(String) } });
    const missing = await listedTo(acme, `cursor=${gap.data.cursor}`);
    expect(idsOf(missing)).toEqual([...rest.slice(1000), last]);
  });

  test('counts only the events of the requested types', async () => {
    const { acme, followHere } = await developer();
    const [first] = await emit(here, acme, some('agent.created', 1200));
    const [wanted] = await emit(here, acme, ['grant.created']);

    const stream = await followHere('types=grant.*', first);

    expect(await stream.first(1)).toEqual([wanted]);
    expect(stream.frames.map(({ event }) => event)).not.toContain('gap');
  });

  test('after an unknown event begins with a gap, and has all retained events', async () => {
    const { acme, followHere } = await developer();
    await registerAgent(acme);

    const stream = await followHere('', 'evt_01K9Z3QW5M8T2V4X6Y7Z8A9B0C');
    await stream.first(2);

    expect(stream.frames.map(({ event }) => event)).toEqual([
      undefined,
      'gap',
      'developer.created',
      'agent.created',
    ]);
  });

  test('is resumed by a client of the HTML standard without code, across instances', async () => {
    const { acme } = await developer();
    const urls = [here.url, there.url];
    let connected = 0;
    const source = new EventSource(`${here.url}/v1/events/stream?types=agent.*`, {
      fetch: (url, init) => {
        const target = String(url).replace(here.url, urls[connected++ % 2] ?? '');
        return fetch(target, {
          ...init,
          headers: { ...init.headers, authorization: `Bearer ${acme.apiKey}` },
        });
      },
    });
    onTestFinished(() => source.close());
    const ids: string[] = [];
    for (const type of ['agent.created', 'agent.updated'])
      source.addEventListener(type, ({ lastEventId, data }) => {
        expect(JSON.parse(data)).toMatchObject({ id: lastEventId, type });
        ids.push(lastEventId);
      });
    await once(source, 'open');
    const first = await emit(here, acme, some('agent.created', 3));
    await vi.waitUntil(() => ids.length === 3, { timeout: 5000 });
    // The connection breaks.
    here.app.server.closeAllConnections();
    const missed = await emit(here, acme, some('agent.updated', 3));
    await vi.waitUntil(() => ids.length === 6, { timeout: 15_000 });
    const later = await emit(here, acme, some('agent.updated', 3));
    await vi.waitUntil(() => ids.length === 9, { timeout: 15_000 });

    expect(ids).toEqual([...first, ...missed, ...later]);
    expect(connected).toBe(2);
  });
});

describe('I15 the streams of a developer', () => {
  test('are at most five over all instances, and a stream that ends frees its slot', async () => {
    const { acme, followHere, followThere } = await developer();
    const open = [
      await followHere(),
      await followThere(),
      await followHere(),
      await followThere(),
      await followHere(),
    ];
    expect(open.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);

    for (const instance of [here, there]) {
      const refused = await instance.calling(acme.apiKey)('GET', '/v1/events/stream');
      expect(refused.statusCode).toBe(429);
      expect(refused.headers['retry-after']).toBe('30');
      expect(refused.json()).toMatchObject({
        code: 'TOO_MANY_CONNECTIONS',
        message: expect.stringContaining('retry in 30 seconds'),
        details: { limit: 5, retryAfter: 30 },
      });
    }
    open[1]?.close();

    await vi.waitUntil(async () => (await followThere()).status === 200, { timeout: 5000, interval: 50 });
  });

  test('are five when a hundred requests come at once', async () => {
    const { followHere, followThere } = await developer();

    const streams = await Promise.all(
      Array.from({ length: 100 }, (_, each) => (each % 2 ? followHere() : followThere())),
    );

    expect(streams.filter(({ status }) => status === 200)).toHaveLength(5);
    expect(streams.filter(({ status }) => status === 429)).toHaveLength(95);
  });

  test('do not count for another developer', async () => {
    const [acme, other] = [await developer(), await developer()];
    for (let each = 0; each < 5; each += 1) await acme.followHere();

    expect((await other.followHere()).status).toBe(200);
  });
});

describe('a consumer', () => {
  test('I15 is cut off when it does not read, and others are not', async () => {
    const { acme, followHere } = await developer();
    await vi.waitUntil(async () => (await countOpen(here.url)) === 0, { timeout: 5000 });
    const idle = await open({ url: here.url, apiKey: acme.apiKey });
    const brisk = await followHere();
    let written = 0;
    // The operating system buffers an unknown amount beside the service's own MiB.
    while ((await countOpen(here.url)) === 2 && written < 10_000) {
      await emit(here, acme, some('agent.updated', 100), { note: 'x'.repeat(10_000) });
      written += 100;
      await brisk.first(written);
    }

    expect(await countOpen(here.url)).toBe(1);
    expect(brisk.events()).toHaveLength(written);
    const cutOff = once(idle, 'error');
    idle.resume();
    expect(await cutOff).toMatchObject([{ code: 'ECONNRESET' }]);
  });

  test('gets the missed events at its own pace', async () => {
    const { acme } = await developer();
    const [first] = await emit(here, acme, some('agent.created', 1000));
    const response = await open({ url: here.url, apiKey: acme.apiKey, ...(first && { lastEventId: first }) });
    let text = '';
    for await (const part of response) {
      text += part;
      if (text.includes('"n":999}')) break;
    }

    expect(text.match(/^id: /gm)).toHaveLength(999);
  });
});
