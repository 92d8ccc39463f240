import { once } from 'node:events';
import http from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { grantTo, registerAgent } from '../../../../test/app/flow.ts';
import { startListening } from '../../../../test/app/listening.ts';
import { followSocket, refusalOf } from '../../../../test/app/sockets.ts';
import { countOpen, emit, follow, listedTo } from '../../../../test/app/streams.ts';

type Instance = Awaited<ReturnType<typeof startListening>>;

const CONSOLE = 'https://console.acme.test';

/** Two instances of the service over one database and one Redis. */
let here: Instance;
let there: Instance;
beforeAll(async () => {
  const env = { CORS_ALLOWED_ORIGINS: CONSOLE };
  here = await startListening({ isShared: true, env });
  there = await startListening({ isShared: true, env });
});
afterAll(async () => {
  await Promise.all([here?.stop(), there?.stop()]);
});

async function developer() {
  const acme = await here.asDeveloper({ mode: 'sandbox' });
  const { apiKey } = acme;
  return {
    acme,
    followHere: (query = '') => followSocket({ url: here.url, apiKey, query }),
    followThere: (query = '') => followSocket({ url: there.url, apiKey, query }),
  };
}

interface Upgrading {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** The answer to a request that no WebSocket client would send. */
async function upgrading(apiKey: string, asked: Upgrading) {
  const { method = 'GET', path = '/v1/events/ws', body = '' } = asked;
  const headers = {
    authorization: `Bearer ${apiKey}`,
    connection: 'upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
    ...asked.headers,
  };
  const request = http.request(`${here.url}${path}`, { method, headers, agent: false }).end(body);
  const [response]: http.IncomingMessage[] = await once(request, 'response');
  if (!response) throw new Error('There was no answer.');
  return { status: response.statusCode, headers: response.headers, body: JSON.parse(await text(response)) };
}

const idsOf = (events: readonly { readonly id: string }[]) => events.map(({ id }) => id);
const some = (type: string, count: number) => Array.from({ length: count }, () => type);

describe('a WebSocket of events', () => {
  test('has the events after its beginning, each as the text of the list', async () => {
    const { acme, followHere } = await developer();
    await registerAgent(acme, 'Before');

    const stream = await followHere();
    const { grantId } = await grantTo(acme);
    await acme('DELETE', `/v1/grants/${grantId}`);
    await stream.first(6);

    const listed = (await listedTo(acme)).slice(2);
    expect(listed).toHaveLength(6);
    expect(stream.messages).toEqual(listed.map((event) => JSON.stringify(event)));
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

  test('T3 has no event of another developer', async () => {
    const [{ acme, followHere }, stranger] = [await developer(), await developer()];
    const own = await followHere();

    await registerAgent(stranger.acme);
    await registerAgent(acme);
    await own.first(1);

    expect(own.told().map(({ developerId }) => developerId)).toEqual([acme.developerId]);
  });

  test('has the types of the query, and then the types of the client’s last message', async () => {
    const { acme, followHere } = await developer();
    const stream = await followHere('types=agent.created');
    await emit(here, acme, ['grant.created', 'agent.created']);
    await stream.first(1);

    stream.socket.send('{"types":["grant.*","budget.debited"]}');
    await stream.heard();
    await emit(here, acme, ['agent.created', 'grant.created', 'budget.debited']);
    await stream.first(3);

    const types = stream.told().map(({ type }) => type);
    expect(types).toEqual(['agent.created', 'grant.created', 'budget.debited']);
  });

  test('is answered with the headers that every answer has', async () => {
    const { followHere } = await developer();

    const { headers } = await followHere();

    expect(headers).toMatchObject({
      'x-request-id': expect.stringMatching(/^[\w-]{36}$/),
      'x-ratelimit-remaining': expect.stringMatching(/^\d+$/),
      'x-content-type-options': 'nosniff',
    });
    expect(headers).not.toHaveProperty('sec-websocket-extensions');
  });

  test('continues at the other instance after the last event that the client saw', async () => {
    const { acme, followHere, followThere } = await developer();
    const stream = await followHere();
    const [seen] = await emit(here, acme, ['agent.created']);
    await stream.first(1);
    stream.socket.close();
    const missed = await emit(here, acme, some('agent.updated', 250));

    const resumed = await followThere(`lastEventId=${seen}`);
    await resumed.first(250);
    const later = await emit(here, acme, some('agent.updated', 3));

    expect(await resumed.first(253)).toEqual([...missed, ...later]);
  });

  test('sends a gap after 1,000 missed events, with the cursor at which the list has the rest', async () => {
    const { acme, followHere } = await developer();
    const [first, ...rest] = await emit(here, acme, some('agent.created', 1002));

    const stream = await followHere(`lastEventId=${first}`);
    await stream.until(() => stream.messages.length > 1000);

    const gap = stream.told().at(-1);
    expect(gap).toEqual({ type: 'gap', data: { cursor: expect.any(String) } });
    expect(idsOf(await listedTo(acme, `cursor=${gap?.data.cursor}`))).toEqual(rest.slice(1000));
  });
});

describe('a refused WebSocket gets the answer of any other route', () => {
  const url = () => here.url;

  test('I15 without a key in the header, also when a key is elsewhere', async () => {
    const { acme } = await developer();
    const key = acme.apiKey;

    const answers = [
      await refusalOf({ url: url() }),
      await refusalOf({ url: url(), query: `apiKey=${key}&access_token=${key}` }),
      await refusalOf({ url: url(), headers: { cookie: `apiKey=${key}` } }),
      await refusalOf({ url: url(), headers: { 'sec-websocket-protocol': key } }),
      await refusalOf({ url: url(), apiKey: `${key.slice(0, -1)}_` }),
    ];

    for (const { status, headers, body } of answers) {
      expect([status, body.code]).toEqual([401, 'UNAUTHORIZED']);
      expect(headers['www-authenticate']).toContain('Bearer');
      expect(headers['x-request-id']).toBe(body.requestId);
      expect(headers.connection).toBe('close');
    }
  });

  test('I15 for a page of another origin, and not for a page of an allowed origin', async () => {
    const { acme } = await developer();
    const { apiKey } = acme;
    const from = (origin: string) => ({ url: url(), apiKey, headers: { origin } });

    for (const origin of ['https://evil.test', 'null', here.url, `${CONSOLE}.evil.test`]) {
      const { status, body } = await refusalOf(from(origin));
      expect([origin, status, body.code]).toEqual([origin, 403, 'FORBIDDEN']);
    }
    const allowed = await followSocket(from(CONSOLE));
    expect(allowed.headers['access-control-allow-origin']).toBe(CONSOLE);
  });

  test.each([
    ['types=agent.borrowed', 'types.0', 'not_allowed'],
    ['types=', 'types', 'too_short'],
    ['lastEventId=', 'lastEventId', 'format'],
  ])('for the query %s', async (query, path, problem) => {
    const { acme } = await developer();

    const { status, body } = await refusalOf({ url: url(), apiKey: acme.apiKey, query });

    expect([status, body.details.fields]).toEqual([400, expect.arrayContaining([{ path, problem }])]);
  });

  test('for a request without a valid handshake', async () => {
    const { acme } = await developer();
    const { apiKey } = acme;

    const plain = await acme('GET', '/v1/events/ws');
    const old = await upgrading(apiKey, { headers: { 'sec-websocket-version': '7' } });
    const keyless = await upgrading(apiKey, { headers: { 'sec-websocket-key': 'x' } });

    expect([plain.statusCode, plain.json().code]).toEqual([400, 'BAD_REQUEST']);
    for (const { status, headers, body } of [old, keyless]) {
      expect([status, body.code]).toEqual([400, 'BAD_REQUEST']);
      expect(headers['sec-websocket-version']).toBe('13');
    }
    // No refused request keeps a slot.
    const streams = [];
    for (let each = 0; each < 5; each += 1) streams.push(await followSocket({ url: url(), apiKey }));
    for (const { socket, heard } of streams) {
      await heard();
      expect(socket.readyState).toBe(socket.OPEN);
    }
  });

  test('above the rate', async () => {
    const small = await startListening({ env: { RATE_LIMIT_PLAN_FREE: '2' } });
    const { apiKey } = await small.asDeveloper();
    await followSocket({ url: small.url, apiKey });
    await followSocket({ url: small.url, apiKey });

    const { status, headers, body } = await refusalOf({ url: small.url, apiKey });

    expect([status, body.code]).toEqual([429, 'RATE_LIMITED']);
    expect(headers['retry-after']).toMatch(/^\d+$/);
  });
});

test.each(['h2c', 'websocket'])(
  'a POST request that asks for an upgrade to %s gets its usual answer',
  async (upgrade) => {
    const { acme } = await developer();
    const headers = { 'content-type': 'application/json', upgrade };
    const body = JSON.stringify({ name: 'Upgrading' });

    const answer = await upgrading(acme.apiKey, { method: 'POST', path: '/v1/agents', headers, body });

    expect([answer.status, answer.body.name]).toEqual([201, 'Upgrading']);
  },
);

test('no other path accepts a WebSocket', async () => {
  const { acme } = await developer();

  const elsewhere = await upgrading(acme.apiKey, { path: '/v1/agents/ws/ws' });
  const list = await upgrading(acme.apiKey, { path: '/v1/agents' });

  expect([elsewhere.status, elsewhere.body.code]).toEqual([404, 'NOT_FOUND']);
  expect([list.status, list.body.agents]).toEqual([200, []]);
});

describe('I15 a message of a client ends the WebSocket', () => {
  test.each([
    ['no JSON', 'types'],
    ['types that are no list', '{"types":"grant.*"}'],
    ['no types', '{"types":[]}'],
    ['a type that no event has', '{"types":["grant.*","grant.borrowed"]}'],
    ['types and another member', '{"types":["grant.*"],"apiKey":"x"}'],
    ['a list', '["grant.*"]'],
    ['null', 'null'],
    ['bytes', Buffer.from('{"types":["grant.*"]}')],
  ])('with 1008 when it is %s', async (_, message) => {
    const { followHere } = await developer();
    const stream = await followHere();

    stream.socket.send(message);

    expect((await stream.ended).code).toBe(1008);
  });

  test('with 1009 when it is larger than 4 KiB, and not before', async () => {
    const { followHere } = await developer();
    const [fitting, large, huge] = [await followHere(), await followHere(), await followHere()];
    const sized = (size: number) => '{"types":["grant.*"]}'.padEnd(size);

    fitting.socket.send(sized(4096));
    large.socket.send(sized(4097));
    huge.socket.send(sized(1024 * 1024));

    expect((await large.ended).code).toBe(1009);
    expect((await huge.ended).code).toBe(1009);
    await fitting.heard();
    expect(fitting.socket.readyState).toBe(fitting.socket.OPEN);
  });

  test('with 1008 when more than a hundred come between two pings', async () => {
    const { followHere } = await developer();
    const [chatty, pinging] = [await followHere(), await followHere()];

    for (let each = 0; each < 100; each += 1) await pinging.heard();
    for (let each = 0; each <= 100; each += 1) chatty.socket.send('{"types":["grant.*"]}');
    pinging.socket.ping();

    expect((await chatty.ended).code).toBe(1008);
    expect((await pinging.ended).code).toBe(1008);
  });
});

describe('I15 the streams of a developer', () => {
  test('are at most five of both kinds over all instances, and a stream that ends frees its slot', async () => {
    const { acme, followHere, followThere } = await developer();
    const { apiKey } = acme;
    const sse = (instance: Instance) => follow({ url: instance.url, apiKey });
    const open = [await followHere(), await followThere(), await followHere()];
    const [one, other] = [await sse(here), await sse(there)];
    expect([one.status, other.status]).toEqual([200, 200]);

    const tooMany = [await followHere(), await followThere()];

    for (const { ended } of tooMany) expect((await ended).code).toBe(1013);
    expect((await sse(here)).status).toBe(429);
    for (const { socket } of open) expect(socket.readyState).toBe(socket.OPEN);
    open[0]?.socket.close();
    await vi.waitUntil(async () => (await sse(there)).status === 200, { timeout: 5000, interval: 50 });
  });
});

test('I15 a client that does not read is cut off, and others are not', async () => {
  const { acme, followHere } = await developer();
  await vi.waitUntil(async () => (await countOpen(here.url)) === 0, { timeout: 5000 });
  const [idle, brisk] = [await followHere(), await followHere()];
  idle.socket.pause();
  let written = 0;
  // The operating system buffers an unknown amount beside the service's own MiB.
  while ((await countOpen(here.url)) === 2 && written < 10_000) {
    await emit(here, acme, some('agent.updated', 100), { note: 'x'.repeat(10_000) });
    written += 100;
    await brisk.first(written);
  }

  expect(await countOpen(here.url)).toBe(1);
  expect(brisk.messages).toHaveLength(written);
  idle.socket.resume();
  expect((await idle.ended).code).toBe(1006);
});

test('a client that reads slowly gets the missed events at its own pace', async () => {
  const { acme, followHere } = await developer();
  const [first, ...missed] = await emit(here, acme, some('agent.created', 901), { note: 'x'.repeat(5000) });

  const stream = await followHere(`lastEventId=${first}`);
  for (let pause = 0; pause < 5; pause += 1) {
    stream.socket.pause();
    await registerAgent(acme); // takes some time
    stream.socket.resume();
    await once(stream.socket, 'message');
  }

  expect((await stream.first(905)).slice(0, 900)).toEqual(missed);
});
