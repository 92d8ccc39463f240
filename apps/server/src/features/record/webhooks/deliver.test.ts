import { sql } from 'kysely';
import { Webhook } from 'standardwebhooks';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import certificate from '../../../../test/app/certificate.json' with { type: 'json' };
import {
  deliveriesOf,
  dispatcherOf,
  registerWebhook,
  sharedWithWebhooks,
  startWithWebhooks,
} from '../../../../test/app/deliveries.ts';
import { entriesOf, grantTo, refusalOf, registerAgent } from '../../../../test/app/flow.ts';
import { type Received, startReceiver } from '../../../../test/app/receiving.ts';
import type { Developer } from '../../../../test/app/start-app.ts';
import { catalogue } from '../../../features.ts';
import { patternsOf } from '../events/index.ts';

const start = sharedWithWebhooks();

const sendTest = async (developer: Developer, webhookId: string) =>
  (await developer('POST', `/v1/webhooks/${webhookId}/test`, {})).json();

describe('a delivery', () => {
  test('is exactly the text of the event, with signatures and headers', async () => {
    const { acme, deliver } = await startWithWebhooks({ startsAt: new Date().toISOString() });
    const receiver = await startReceiver();
    const { webhookId, secret } = await registerWebhook(acme, receiver.url, ['grant.created']);

    const { grantId } = await grantTo(acme);
    await deliver();

    const [delivery] = await deliveriesOf(acme, webhookId);
    const [{ headers, body } = nothing] = receiver.received;
    expect(receiver.received).toHaveLength(1);
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'user-agent': 'Service-Webhooks/0.1',
      'x-service-delivery': delivery?.id,
      'x-service-event': 'grant.created',
      'webhook-id': delivery?.eventId,
    });
    const event = JSON.parse(body);
    expect(event).toMatchObject({ type: 'grant.created', sandbox: true, data: { grantId } });
    expect((await acme('GET', '/v1/events?types=grant.created')).body).toContain(body);
    expect(new Webhook(secret).verify(body, headers)).toEqual(event);
    expect(() => new Webhook(secret).verify(`${body} `, headers)).toThrow();
    const other = await registerWebhook(acme, receiver.url);
    expect(() => new Webhook(other.secret).verify(body, headers)).toThrow();
  });

  test('is an event of OCSF where the webhook asks for that form, signed as it is sent', async () => {
    const { acme, deliver } = await startWithWebhooks({ startsAt: new Date().toISOString() });
    const receiver = await startReceiver();
    const { webhookId, secret } = await registerWebhook(acme, receiver.url, ['grant.created']);
    expect((await acme('GET', `/v1/webhooks/${webhookId}`)).json()).toMatchObject({ format: 'envelope' });
    const { grantId } = await grantTo(acme);

    const changed = await acme('PATCH', `/v1/webhooks/${webhookId}`, { format: 'ocsf' });
    await deliver();

    expect(changed.json()).toMatchObject({ format: 'ocsf' });
    const [{ headers, body } = nothing] = receiver.received;
    expect(JSON.parse(body)).toMatchObject({
      class_uid: 3005,
      activity_id: 1,
      resources: [{ uid: grantId }],
      metadata: { uid: headers['webhook-id'], event_code: 'grant.created' },
    });
    expect(new Webhook(secret).verify(body, headers)).toEqual(JSON.parse(body));
    const wrong = { url: receiver.url, events: ['*'], format: 'cef' };
    expect((await acme('POST', '/v1/webhooks', wrong)).statusCode).toBe(400);
  });

  test('is delivered after a 2xx answer, in the history and in the webhook', async () => {
    const { acme, deliver } = await start();
    const receiver = await startReceiver();
    receiver.answerStatus(299);
    const { webhookId } = await registerWebhook(acme, receiver.url, ['agent.created']);

    await registerAgent(acme);
    const [waiting] = await deliveriesOf(acme, webhookId);
    await deliver();

    expect(waiting).toMatchObject({ status: 'pending', attempts: 0, lastError: null, url: receiver.url });
    expect(await deliveriesOf(acme, webhookId)).toEqual([
      {
        ...waiting,
        status: 'delivered',
        attempts: 1,
        lastStatusCode: 299,
        lastAttemptAt: '2026-01-01T00:00:00.000Z',
        nextAttemptAt: null,
        deliveredAt: '2026-01-01T00:00:00.000Z',
      },
    ]);
    expect((await acme('GET', `/v1/webhooks/${webhookId}`)).json().lastDeliveryAt).toBe(
      '2026-01-01T00:00:00.000Z',
    );
  });

  test('leaves the time of the last one as it is when its process has a clock that is late', async () => {
    const { acme, deliver, advance } = await startWithWebhooks();
    const receiver = await startReceiver();
    const { webhookId } = await registerWebhook(acme, receiver.url, ['agent.created']);
    const lastOf = async () => (await acme('GET', `/v1/webhooks/${webhookId}`)).json().lastDeliveryAt;
    await registerAgent(acme);
    advance(5);
    await deliver();
    const before = await lastOf();
    advance(-5);
    await registerAgent(acme);
    await deliver();

    expect(receiver.received).toHaveLength(2);
    expect([before, await lastOf()]).toEqual(Array(2).fill('2026-01-01T00:00:05.000Z'));
  });

  test('is made only for events of the same developer that the webhook names, after its registration', async () => {
    const { acme, asDeveloper, deliver } = await start();
    const receiver = await startReceiver();
    await registerAgent(acme, 'Too early');
    const { webhookId } = await registerWebhook(acme, receiver.url, ['agent.created', 'token.*']);

    const { grantId } = await grantTo(acme);
    await grantTo(await asDeveloper({ mode: 'sandbox' }));
    await deliver();

    const events = receiver.received.map(({ body }) => JSON.parse(body));
    expect(events.map(({ type }) => type).sort()).toEqual(['agent.created', 'token.issued']);
    expect(events.find(({ type }) => type === 'token.issued').data.grantId).toBe(grantId);
    expect(await deliveriesOf(acme, webhookId)).toHaveLength(2);
  });

  test('with a test event goes only to the tested webhook, whatever that webhook subscribes to', async () => {
    const { acme, deliver } = await start();
    const [receiver, other] = [await startReceiver(), await startReceiver()];
    const { webhookId } = await registerWebhook(acme, receiver.url, ['grant.created']);
    await registerWebhook(acme, other.url, ['webhook.test']);

    const answer = await acme('POST', `/v1/webhooks/${webhookId}/test`, {});
    await deliver();

    expect(answer.statusCode).toBe(202);
    const { eventId, deliveryId } = answer.json();
    const [{ headers, body } = nothing] = receiver.received;
    expect(headers).toMatchObject({ 'webhook-id': eventId, 'x-service-delivery': deliveryId });
    expect(JSON.parse(body)).toMatchObject({ id: eventId, type: 'webhook.test', data: { webhookId } });
    expect(other.received).toEqual([]);
    expect((await acme('GET', '/v1/events?types=webhook.test')).json().events).toMatchObject([
      { id: eventId },
    ]);
  });

  test('is signed with both secrets during the grace period of a rotation, and then with the new secret', async () => {
    const { acme, deliver, advance } = await startWithWebhooks({ startsAt: new Date().toISOString() });
    const receiver = await startReceiver();
    const { webhookId, secret } = await registerWebhook(acme, receiver.url, ['grant.revoked']);
    const rotation = { graceSeconds: 60 };
    const rotated = await acme('POST', `/v1/webhooks/${webhookId}/rotate-secret`, rotation);

    for (const seconds of [0, 60]) {
      advance(seconds);
      await sendTest(acme, webhookId);
      await deliver();
    }

    const opens = (key: string, { body, headers }: Received = nothing) => {
      expect(() => new Webhook(key).verify(body, headers)).not.toThrow();
    };
    const [during, afterwards] = receiver.received;
    opens(rotated.json().secret, during);
    opens(secret, during);
    opens(rotated.json().secret, afterwards);
    expect(() => opens(secret, afterwards)).toThrow();
  });
});

const nothing: Received = { path: '', headers: {}, body: '' };

describe('an attempt that fails', () => {
  const secretOfInside = 'the inside is at 10.0.0.7';
  const answering = async (status: number, headers = {}) => {
    const receiver = await startReceiver();
    receiver.answer((_, response) => void response.writeHead(status, headers).end(secretOfInside));
    return receiver.url;
  };
  const ways: readonly (readonly [
    what: string,
    lastError: string,
    status: number | null,
    () => Promise<string>,
  ])[] = [
    ['is answered 500', 'http_500', 500, () => answering(500)],
    ['is answered 404', 'http_404', 404, () => answering(404)],
    ['is answered 304', 'http_304', 304, () => answering(304)],
    [
      'is redirected to this machine (S4)',
      'redirect_refused',
      307,
      async () => {
        const inside = await startReceiver();
        onTestFinished(() => expect(inside.received).toEqual([]));
        return answering(307, { location: inside.url });
      },
    ],
    [
      'is reset',
      'connection_failed',
      null,
      async () => {
        const receiver = await startReceiver();
        receiver.answer((request) => request.socket.resetAndDestroy());
        return receiver.url;
      },
    ],
    [
      'finds a closed port',
      'connection_failed',
      null,
      async () => {
        const receiver = await startReceiver();
        receiver.server.close();
        return receiver.url;
      },
    ],
    [
      'gets no answer in time',
      'timeout',
      null,
      async () => {
        const receiver = await startReceiver();
        receiver.answer(() => {});
        return receiver.url;
      },
    ],
    [
      'finds an untrusted certificate',
      'tls_failed',
      null,
      async () => (await startReceiver({ tls: certificate })).url,
    ],
    ['finds no address of the name', 'dns_failed', null, async () => 'http://nowhere.invalid/'],
  ];

  test.each(ways)(
    'S7: because it %s, is shown as %s without details',
    async (_, lastError, lastStatusCode, where) => {
      const resolve = () => Promise.reject(new Error(secretOfInside));
      const { acme, deliver, failures } = await start({ timeoutMilliseconds: 300, resolve });
      const { webhookId } = await registerWebhook(acme, await where(), ['agent.created']);

      await registerAgent(acme);
      await deliver();

      const page = await acme('GET', `/v1/webhooks/${webhookId}/deliveries`);
      expect(page.json().deliveries).toMatchObject([
        {
          status: 'pending',
          attempts: 1,
          maxAttempts: 5,
          lastError,
          lastStatusCode,
          lastAttemptAt: '2026-01-01T00:00:00.000Z',
          nextAttemptAt: '2026-01-01T00:00:30.000Z',
          deliveredAt: null,
        },
      ]);
      expect(page.body).not.toContain('10.0.0.7');
      expect(failures).toEqual([]);
    },
  );

  test('S1, S8: because the name has a private address by then, calls no receiver', async () => {
    const { acme, advance, service } = await startWithWebhooks();
    const receiver = await startReceiver();
    const url = `http://hooks.acme.test:${receiver.port}/`;
    const { webhookId } = await registerWebhook(acme, url, ['agent.created']);
    await registerAgent(acme);
    let leadsTo: string[] = [];
    const resolve = async (name: string) => (name === 'hooks.acme.test' ? leadsTo : []);
    const strict = dispatcherOf(service, { allowsPrivateHosts: false, resolve });

    for (const [addresses, lastError] of [
      [[], 'dns_failed'],
      [['169.254.169.254'], 'blocked_address'],
      [['127.0.0.1'], 'blocked_address'],
    ] as const) {
      leadsTo = [...addresses];
      await strict.deliver();
      expect(await deliveriesOf(acme, webhookId)).toMatchObject([{ lastError, lastStatusCode: null }]);
      advance(3600);
    }

    expect(receiver.received).toEqual([]);
    const lenient = dispatcherOf(service, { resolve: async () => ['127.0.0.1'] });
    await lenient.deliver();
    expect(receiver.received).toHaveLength(1);
  });
});

describe('a delivery that fails', () => {
  test('is attempted again after 30, 60, 120 and 240 seconds, and has then failed', async () => {
    const { acme, deliver, advance, clock } = await startWithWebhooks();
    const receiver = await startReceiver();
    receiver.answerStatus(503);
    const { webhookId, secret } = await registerWebhook(acme, receiver.url, ['agent.created']);
    await registerAgent(acme);
    const begun = clock().getTime();
    const attempts: number[] = [];

    for (let seconds = 0; seconds <= 1200; seconds += 10) {
      const before = receiver.received.length;
      await deliver();
      if (receiver.received.length > before) attempts.push((clock().getTime() - begun) / 1000);
      advance(10);
    }

    expect(attempts).toEqual([0, 30, 90, 210, 450]);
    expect(await deliveriesOf(acme, webhookId)).toMatchObject([
      {
        status: 'failed',
        attempts: 5,
        lastError: 'http_503',
        lastStatusCode: 503,
        nextAttemptAt: null,
        deliveredAt: null,
      },
    ]);
    const all = receiver.received.map(({ headers, body }) => ({ ...headers, body }));
    const values = (name: string) => new Set(all.map((each) => Object(each)[name]));
    for (const same of ['body', 'webhook-id', 'x-service-signature', 'x-service-delivery']) {
      expect(values(same).size, same).toBe(1);
    }
    for (const own of ['webhook-timestamp', 'webhook-signature', 'x-service-signature-v2']) {
      expect(values(own).size, own).toBe(5);
    }
    const [{ headers, body } = nothing] = receiver.received.slice(-1);
    const at = new Date(Number(headers['webhook-timestamp']) * 1000);
    expect(at.getTime()).toBe(begun + 450_000);
    expect(new Webhook(secret).sign(String(headers['webhook-id']), at, body)).toBe(
      headers['webhook-signature'],
    );
  });

  test('is delivered when the receiver is back, and then no longer shows the failure', async () => {
    const { acme, deliver, advance } = await startWithWebhooks();
    const receiver = await startReceiver();
    receiver.answerStatus(500);
    const { webhookId } = await registerWebhook(acme, receiver.url, ['agent.created']);
    await registerAgent(acme);
    await deliver();
    advance(30);
    await deliver();

    receiver.answerStatus(200);
    advance(60);
    await deliver();

    expect(await deliveriesOf(acme, webhookId)).toMatchObject([
      { status: 'delivered', attempts: 3, lastError: null, lastStatusCode: 200 },
    ]);
  });

  test('has as many attempts as the operator sets, and an earlier delivery keeps its number', async () => {
    const { acme, deliver } = await startWithWebhooks({ env: { WEBHOOK_MAX_ATTEMPTS: '1' } });
    const receiver = await startReceiver();
    receiver.answerStatus(500);
    const { webhookId } = await registerWebhook(acme, receiver.url, ['agent.created']);

    await registerAgent(acme);
    await deliver();

    expect(await deliveriesOf(acme, webhookId)).toMatchObject([
      { status: 'failed', attempts: 1, maxAttempts: 1, lastError: 'http_500' },
    ]);
  });
});

describe('a redelivery', () => {
  test('sends the same event once more, under the event id that receivers know', async () => {
    const { acme, deliver } = await start();
    const receiver = await startReceiver();
    const { webhookId } = await registerWebhook(acme, receiver.url, ['agent.created']);
    await registerAgent(acme);
    await deliver();
    const [first] = await deliveriesOf(acme, webhookId);

    const answer = await acme('POST', `/v1/webhooks/${webhookId}/deliveries/${first?.id}/redeliver`, {});
    await deliver();

    expect(answer.statusCode).toBe(202);
    expect(answer.json()).toEqual({
      ...first,
      id: expect.stringMatching(/^whd_/),
      status: 'pending',
      attempts: 0,
      lastStatusCode: null,
      lastAttemptAt: null,
      nextAttemptAt: '2026-01-01T00:00:00.000Z',
      deliveredAt: null,
    });
    const both = await deliveriesOf(acme, webhookId);
    expect(both.map(({ id }) => id).sort()).toEqual([first?.id, answer.json().id].sort());
    expect(both.map(({ status }) => status)).toEqual(['delivered', 'delivered']);
    const [one, other] = receiver.received;
    expect(other?.body).toBe(one?.body);
    expect(other?.headers['webhook-id']).toBe(one?.headers['webhook-id']);
    expect(other?.headers['x-service-delivery']).toBe(answer.json().id);
  });

  test('is refused for a delivery of another webhook', async () => {
    const { acme } = await start();
    const [one, other] = [
      await registerWebhook(acme, 'https://a.test/'),
      await registerWebhook(acme, 'https://b.test/'),
    ];
    const { deliveryId } = await sendTest(acme, one.webhookId);
    const redeliver = (id: string, delivery: string) =>
      acme('POST', `/v1/webhooks/${id}/deliveries/${delivery}/redeliver`, {});

    expect(refusalOf(await redeliver(other.webhookId, deliveryId))).toBe('404 NOT_FOUND');
    expect(refusalOf(await redeliver(one.webhookId, 'whd_01K9Z3QW5M8T2V4X6Y7Z8A9B0C'))).toBe('404 NOT_FOUND');
    expect((await redeliver(one.webhookId, deliveryId)).statusCode).toBe(202);
  });
});

describe('the history of deliveries', () => {
  test('is read by page and by cursor, by status and by type of event', async () => {
    const { acme, deliver } = await start();
    const receiver = await startReceiver();
    const { webhookId } = await registerWebhook(acme, receiver.url, ['agent.created']);
    for (let at = 0; at < 5; at += 1) await registerAgent(acme);
    await deliver();
    await sendTest(acme, webhookId);
    const page = async (query: string) =>
      (await acme('GET', `/v1/webhooks/${webhookId}/deliveries?${query}`)).json();
    const all = (await deliveriesOf(acme, webhookId)).map(({ id }) => id);

    const [first, last] = [await page('pageSize=4'), await page('page=2&pageSize=4')];
    const byCursor = await page(`limit=4&cursor=${first.nextCursor}`);

    expect(first).toMatchObject({ total: 6, page: 1, pageSize: 4 });
    expect(last).toMatchObject({ total: 6, page: 2, pageSize: 4, nextCursor: null });
    expect([...first.deliveries, ...last.deliveries].map(({ id }) => id)).toEqual(all);
    expect(byCursor.deliveries).toEqual(last.deliveries);
    expect(await page('')).toMatchObject({ pageSize: 20, total: 6 });
    expect((await page('status=pending')).deliveries).toMatchObject([{ eventType: 'webhook.test' }]);
    expect((await page('eventType=agent.created')).total).toBe(5);
    expect((await page('status=failed')).deliveries).toEqual([]);
    for (const bad of [
      'page=1&limit=2',
      'page=0',
      'pageSize=0',
      'limit=501',
      'status=gone',
      'page=100001&pageSize=1',
    ])
      expect((await page(bad)).code, bad).toBe('BAD_REQUEST');
  });

  test('is read to its end when it is large, and a page by number that is too large is refused', async () => {
    const { acme, db } = await start();
    const { webhookId } = await registerWebhook(acme, 'https://a.test/', ['agent.created']);
    await sql`
      insert into webhook_deliveries (developer_id, webhook_id, id, event_id, event_type, envelope, max_attempts, url,
        created_at, status)
      select ${acme.developerId}, ${webhookId}, 'whd_' || lpad(n::text, 26, '0'), 'evt_1', 'agent.created', '{}', 5,
        'https://a.test/' || repeat('€', 2000), now(), 'delivered'
      from generate_series(1, 200) n`.execute(db);
    const page = async (query: string) =>
      (await acme('GET', `/v1/webhooks/${webhookId}/deliveries?${query}`)).json();

    const [tooLarge, half] = [await page('pageSize=200'), await page('page=2&pageSize=100')];
    const first = await page('limit=200');
    const second = await page(`limit=200&cursor=${first.nextCursor}`);

    expect(tooLarge.details.fields).toEqual([{ path: 'pageSize', problem: 'too_large' }]);
    expect(half).toMatchObject({ total: 200, nextCursor: null });
    expect(half.deliveries).toHaveLength(100);
    const ids = [...first.deliveries, ...second.deliveries].map(({ id }) => id);
    expect([new Set(ids).size, ids.length, second.nextCursor]).toEqual([200, 200, null]);
  });
});

describe('a webhook that is', () => {
  test('disabled keeps its waiting deliveries, without an attempt, until it is enabled', async () => {
    const { acme, deliver, advance } = await startWithWebhooks();
    const receiver = await startReceiver();
    const { webhookId } = await registerWebhook(acme, receiver.url, ['agent.created']);
    await acme('PATCH', `/v1/webhooks/${webhookId}`, { status: 'disabled' });

    await registerAgent(acme);
    for (let times = 0; times < 3; times += 1) {
      await deliver();
      advance(600);
    }

    expect(await deliveriesOf(acme, webhookId)).toMatchObject([{ status: 'pending', attempts: 0 }]);
    expect(receiver.received).toEqual([]);
    await acme('PATCH', `/v1/webhooks/${webhookId}`, { status: 'active' });
    await deliver();
    expect(receiver.received).toHaveLength(1);
  });

  test('moved gets its waiting deliveries at the new URL, and the history shows the URL of each', async () => {
    const { acme, deliver, advance } = await startWithWebhooks();
    const [before, now] = [await startReceiver(), await startReceiver()];
    const { webhookId } = await registerWebhook(acme, before.url, ['agent.created']);
    await registerAgent(acme);
    await deliver();
    advance(1); // so that the next id is later
    before.answerStatus(500);
    await registerAgent(acme);
    await deliver();

    await acme('PATCH', `/v1/webhooks/${webhookId}`, { url: now.url });
    advance(30);
    await deliver();

    expect(now.received).toHaveLength(1);
    expect((await deliveriesOf(acme, webhookId)).map(({ url }) => url)).toEqual([now.url, before.url]);
  });

  test('deleted gets no more deliveries, and those under way fail', async () => {
    const { acme, db, deliver, begin, idle } = await start();
    const receiver = await startReceiver();
    let answer = () => {};
    receiver.answer((_, response) => {
      answer = () => void response.writeHead(204).end();
    });
    const { webhookId } = await registerWebhook(acme, receiver.url, ['agent.created']);
    await registerAgent(acme);
    await registerAgent(acme);
    await begin();
    await vi.waitFor(() => expect(receiver.received).toHaveLength(1), { timeout: 20_000 });

    await acme('DELETE', `/v1/webhooks/${webhookId}`);
    answer();
    await idle();
    await deliver();

    expect(receiver.received).toHaveLength(1);
    const kept = await db
      .selectFrom('webhookDeliveries')
      .select(['status', 'lastError', 'url'])
      .where('webhookId', '=', webhookId)
      .execute();
    expect(kept).toEqual(
      Array(2).fill({ status: 'failed', lastError: 'endpoint_deleted', url: receiver.url }),
    );
  });
});

test('agents 35: a webhook whose receiver answers 410 is disabled, with an event, and tries no more', async () => {
  const { acme, advance, deliver } = await startWithWebhooks();
  const receiver = await startReceiver();
  const { webhookId } = await registerWebhook(acme, receiver.url, ['grant.created']);
  receiver.answerStatus(410);
  await grantTo(acme);
  await deliver();
  await grantTo(acme);
  advance(86_400);
  await deliver();

  expect(receiver.received).toHaveLength(1);
  expect((await acme('GET', `/v1/webhooks/${webhookId}`)).json().status).toBe('disabled');
  const deliveries = await deliveriesOf(acme, webhookId);
  expect(deliveries.map(({ status }: { status: string }) => status).sort()).toEqual(['failed', 'pending']);
  expect((await acme('GET', '/v1/events?types=webhook.disabled')).json().events).toMatchObject([
    { type: 'webhook.disabled', data: { webhookId, reason: 'gone' } },
  ]);
  expect(await entriesOf(acme, 'webhook.disabled')).toMatchObject([{ metadata: { reason: 'gone' } }]);
});

test('a 410 of an address that the webhook has left meanwhile disables nothing', async () => {
  const { acme, deliver } = await startWithWebhooks();
  const receiver = await startReceiver();
  const { webhookId } = await registerWebhook(acme, receiver.url, ['grant.created']);
  receiver.answer(async (_request, response) => {
    await acme('PATCH', `/v1/webhooks/${webhookId}`, { url: `${receiver.url}/new` });
    response.writeHead(410).end();
  });
  await grantTo(acme);
  await deliver();

  expect(receiver.received).toHaveLength(1);
  expect((await acme('GET', `/v1/webhooks/${webhookId}`)).json().status).toBe('active');
});

test('K9: a receiver that names a time by `Retry-After` is tried then, and not before', async () => {
  const { acme, advance, deliver } = await startWithWebhooks();
  const receiver = await startReceiver();
  await registerWebhook(acme, receiver.url, ['grant.created']);
  receiver.answerStatus(429, { 'retry-after': '600' });
  await grantTo(acme);
  await deliver();
  advance(599);
  await deliver();
  expect(receiver.received).toHaveLength(1);
  receiver.answerStatus(204);
  advance(1);
  await deliver();

  expect(receiver.received).toHaveLength(2);
});

test('a webhook gets every event after its registration and no event before it, also when all happen at once', async () => {
  const { acme } = await start();
  const someAgents = () => Array.from({ length: 10 }, () => registerAgent(acme));
  const registering = registerWebhook(acme, 'https://hooks.acme.test/', ['agent.created']);

  const [{ webhookId }] = await Promise.all([registering, ...someAgents()]);
  await Promise.all(someAgents());

  const query = 'types=webhook.created,agent.created&limit=500';
  const { events } = (await acme('GET', `/v1/events?${query}`)).json();
  const at = events.findIndex(({ type }: { type: string }) => type === 'webhook.created');
  const after = events.slice(at + 1).map(({ id }: { id: string }) => id);
  expect(after.length).toBeGreaterThanOrEqual(10);
  expect((await deliveriesOf(acme, webhookId)).map(({ eventId }) => eventId).sort()).toEqual(after.sort());
});

test('a delivery that was made while its webhook was being deleted fails, and is not claimed again', async () => {
  const { acme, db, deliver } = await start();
  const receiver = await startReceiver();
  const { webhookId } = await registerWebhook(acme, receiver.url, ['agent.created']);
  await acme('DELETE', `/v1/webhooks/${webhookId}`);
  // An event's transaction leaves this state when it commits between the two statements of a deletion.
  const at = new Date('2026-01-01T00:00:00Z');
  const late = {
    id: 'whd_late',
    eventId: 'evt_late',
    eventType: 'agent.created',
    envelope: '{}',
    maxAttempts: 5,
  };
  const { developerId } = acme;
  const times = { createdAt: at, nextAttemptAt: at };
  await db
    .insertInto('webhookDeliveries')
    .values({ developerId, webhookId, ...late, ...times })
    .execute();

  await deliver();

  const kept = await db
    .selectFrom('webhookDeliveries')
    .select(['status', 'lastError', 'nextAttemptAt'])
    .where('webhookId', '=', webhookId)
    .where('id', '=', 'whd_late')
    .execute();
  expect(kept).toEqual([{ status: 'failed', lastError: 'endpoint_deleted', nextAttemptAt: null }]);
  expect(receiver.received).toEqual([]);
});

test('a webhook with very many waiting deliveries is deleted at once, and the deliveries fail in portions', async () => {
  const { acme, db, clock, deliver } = await start();
  const { webhookId } = await registerWebhook(acme, 'https://hooks.acme.test/', ['agent.created']);
  const { developerId } = acme;
  const at = clock();
  const waiting = Array.from({ length: 3500 }, (_, each) => ({
    developerId,
    webhookId,
    id: `whd_${each}`,
    eventId: `evt_${each}`,
    eventType: 'agent.created',
    envelope: '{}',
    maxAttempts: 5,
    isPrompt: each % 7 === 0,
    createdAt: at,
    nextAttemptAt: at,
  }));
  await db.insertInto('webhookDeliveries').values(waiting).execute();
  const stillWaiting = async () =>
    (
      await db
        .selectFrom('webhookDeliveries')
        .select('id')
        .where('webhookId', '=', webhookId)
        .where('status', '=', 'pending')
        .execute()
    ).length;

  expect((await acme('DELETE', `/v1/webhooks/${webhookId}`)).statusCode).toBe(204);
  expect(await stillWaiting()).toBe(2000);
  await deliver();
  expect(await stillWaiting()).toBe(1000);
  await deliver();
  expect(await stillWaiting()).toBe(0);
});

test('the metrics count attempts and waiting deliveries', async () => {
  const { acme, app, deliver } = await startWithWebhooks();
  const [good, bad] = [await startReceiver(), await startReceiver()];
  bad.answerStatus(500);
  await registerWebhook(acme, good.url, ['agent.created']);
  await registerWebhook(acme, bad.url, ['agent.created']);
  const value = async (metric: string) =>
    Number(
      / (\d+)$/.exec(
        (await app.inject('/metrics')).body.split('\n').find((line) => line.startsWith(metric)) ?? '',
      )?.[1] ?? 0,
    );
  const waiting = await value('webhook_deliveries_pending');

  await registerAgent(acme);
  expect(await value('webhook_deliveries_pending')).toBe(waiting + 2);
  await deliver();

  expect(await value('webhook_attempts_total{outcome="delivered"}')).toBe(1);
  expect(await value('webhook_attempts_total{outcome="retried"}')).toBeGreaterThanOrEqual(1);
  expect(await value('webhook_deliveries_pending')).toBe(waiting + 1);
});

test('a webhook gets a delivery of each type that its patterns match, and of no other type', async () => {
  const { db, asDeveloper } = await start();
  const { developerId } = await asDeveloper();
  const types = catalogue.typesOf(['*', 'budget.debited']);
  const areas = types.map((type) => type.split('.').slice(0, -1).join('.'));
  const patterns = [...new Set([...types, ...areas.map((area) => `${area}.*`), 'vault.*', '*'])];
  const events = types.map((type) => ({
    eventId: `evt_${type}`,
    type,
    envelope: '{}',
    patterns: patternsOf(type),
  }));
  await sql`insert into webhook_endpoints (developer_id, id, url, events, description, status, max_attempts, secret,
      seal_key_id, created_at, updated_at)
    select ${developerId}, pattern, '', array[pattern], '', 'active', 1, '', '', now(), now()
    from unnest(${patterns}::text[]) as pattern`.execute(db);

  await sql`select deliver_events(${developerId}, now(), ${JSON.stringify(events)}::jsonb)`.execute(db);

  const { rows } = await sql<{ pattern: string; types: string[] }>`
    select e.id as pattern, array(select d.event_type from webhook_deliveries d
      where d.developer_id = e.developer_id and d.webhook_id = e.id) as types
    from webhook_endpoints e where e.developer_id = ${developerId}`.execute(db);
  expect(rows).toHaveLength(patterns.length);
  for (const { pattern, types: told } of rows)
    expect(told.sort(), pattern).toEqual(types.filter((type) => catalogue.matches([pattern], type)).sort());
});
