import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import {
  deliveriesOf,
  registerWebhook,
  sharedWithWebhooks,
  startWithWebhooks,
} from '../../../../test/app/deliveries.ts';
import { refusalOf, registerAgent } from '../../../../test/app/flow.ts';
import { startReceiver } from '../../../../test/app/receiving.ts';

const start = sharedWithWebhooks();
const DAY = 86_400;

describe('GET /v1/webhooks/:id/deliveries/:deliveryId', () => {
  test('shows each attempt, and exactly what is sent without its signatures', async () => {
    const { acme, advance, deliver } = await startWithWebhooks();
    const receiver = await startReceiver();
    receiver.answerStatus(503);
    const { webhookId } = await registerWebhook(acme, receiver.url, ['agent.created']);
    await registerAgent(acme);
    const [{ id } = { id: '' }] = await deliveriesOf(acme, webhookId);
    const read = async () => (await acme('GET', `/v1/webhooks/${webhookId}/deliveries/${id}`)).json();
    const untried = await read();
    await deliver();
    advance(60);
    receiver.answerStatus(204);
    await deliver();

    const [first, last] = receiver.received;
    const [listed] = await deliveriesOf(acme, webhookId);
    const shown = await read();
    expect(untried).toMatchObject({ status: 'pending', attemptLog: [], payload: first?.body });
    expect(untried.headers).not.toHaveProperty('webhook-timestamp');
    expect(shown).toEqual({
      ...listed,
      attemptLog: [
        {
          n: 1,
          at: '2026-01-01T00:00:00.000Z',
          statusCode: 503,
          error: 'http_503',
          durationMs: expect.any(Number),
        },
        {
          n: 2,
          at: '2026-01-01T00:01:00.000Z',
          statusCode: 204,
          error: null,
          durationMs: expect.any(Number),
        },
      ],
      payload: first?.body,
      headers: {
        'content-type': 'application/json',
        'user-agent': first?.headers['user-agent'],
        'webhook-id': listed?.eventId,
        'webhook-timestamp': last?.headers['webhook-timestamp'],
        'x-service-timestamp': last?.headers['x-service-timestamp'],
        'x-service-delivery': id,
        'x-service-event': 'agent.created',
      },
    });
    expect(last?.headers['webhook-timestamp']).toBe('1767225660');
  });

  test('keeps no part of an answer, and at most twenty attempts', async () => {
    const { acme, advance, deliver, db } = await startWithWebhooks({ env: { WEBHOOK_MAX_ATTEMPTS: '1' } });
    const receiver = await startReceiver();
    receiver.answer((_request, response) => response.writeHead(500).end('a secret of the receiver'));
    const { webhookId } = await registerWebhook(acme, receiver.url, ['agent.created']);
    await registerAgent(acme);
    const since = '2025-12-31T00:00:00Z';
    for (let sent = 0; sent < 22; sent += 1) {
      await deliver();
      await acme('POST', `/v1/webhooks/${webhookId}/recover`, { since });
      advance(60);
    }

    const [{ id } = { id: '' }] = await deliveriesOf(acme, webhookId);
    const shown = (await acme('GET', `/v1/webhooks/${webhookId}/deliveries/${id}`)).json();
    expect(shown.attemptLog.map(({ n }: { n: number }) => n)).toEqual(
      Array.from({ length: 20 }, (_, at) => at + 3),
    );
    const { rows } = await sql`select d::text as row from webhook_deliveries d`.execute(db);
    expect(JSON.stringify([shown, rows])).not.toContain('a secret of the receiver');
  });

  test('is refused for a delivery of another webhook', async () => {
    const { acme } = await start();
    const [one, other] = [
      await registerWebhook(acme, 'https://a.test/', ['agent.created']),
      await registerWebhook(acme, 'https://b.test/', ['grant.created']),
    ];
    await registerAgent(acme);
    const [{ id } = { id: '' }] = await deliveriesOf(acme, one.webhookId);
    const read = (webhookId: string) => acme('GET', `/v1/webhooks/${webhookId}/deliveries/${id}`);

    expect(refusalOf(await read(other.webhookId))).toBe('404 NOT_FOUND');
    expect((await read(one.webhookId)).statusCode).toBe(200);
  });
});

describe('POST /v1/webhooks/:id/recover', () => {
  test('sends again what failed in the span, in its order, and nothing twice', async () => {
    const { acme, advance, deliver } = await startWithWebhooks({ env: { WEBHOOK_MAX_ATTEMPTS: '1' } });
    const receiver = await startReceiver();
    const { webhookId } = await registerWebhook(acme, receiver.url, ['agent.created']);
    const recover = (body: object) => acme('POST', `/v1/webhooks/${webhookId}/recover`, body);
    await registerAgent(acme);
    await deliver();
    advance(DAY);
    receiver.answerStatus(500);
    await registerAgent(acme); // at the beginning of the second day: before the span
    await deliver();
    for (const _ of [1, 2, 3]) {
      advance(60);
      await registerAgent(acme);
      await deliver();
    }
    advance(60);
    receiver.answerStatus(204);
    const before = receiver.received.length;
    const failed = (await deliveriesOf(acme, webhookId)).filter(({ status }) => status === 'failed');

    const span = { since: '2026-01-02T00:01:00Z', until: '2026-01-02T00:02:30Z' };
    const answer = await recover(span);
    const again = await recover(span);
    const waiting = (await deliveriesOf(acme, webhookId)).filter(({ status }) => status === 'pending');
    await deliver();

    expect([answer.statusCode, answer.json()]).toEqual([202, { requeued: 2, complete: true }]);
    expect(again.json()).toEqual({ requeued: 0, complete: true });
    expect(waiting).toMatchObject(Array(2).fill({ attempts: 0, maxAttempts: 1, lastError: 'http_500' }));
    const sent = receiver.received.slice(before).map(({ headers }) => headers['webhook-id']);
    expect(failed).toHaveLength(4);
    expect(sent.sort()).toEqual(
      failed
        .slice(1, 3)
        .map(({ eventId }) => eventId)
        .sort(),
    );
    expect((await deliveriesOf(acme, webhookId)).map(({ status }) => status)).toEqual([
      'failed',
      'delivered',
      'delivered',
      'failed',
      'delivered',
    ]);
    expect((await recover({ since: span.since })).json()).toEqual({ requeued: 1, complete: true });
  });

  test('takes ten thousand at a time, and says that more are left', async () => {
    const { acme, db } = await start();
    const { webhookId } = await registerWebhook(acme, 'https://a.test/', ['grant.created']);
    await sql`
      insert into webhook_deliveries (developer_id, webhook_id, id, event_id, event_type, envelope, max_attempts, url,
        created_at, status)
      select ${acme.developerId}, ${webhookId}, 'whd_' || ulid_time('2025-12-31') || lpad(n::text, 16, '0'), 'evt_1',
        'grant.created', '{}', 5, 'https://a.test/', '2025-12-31', 'failed'
      from generate_series(1, 10001) n`.execute(db);
    await acme('PATCH', `/v1/webhooks/${webhookId}`, { status: 'disabled' });
    const recover = async () =>
      (await acme('POST', `/v1/webhooks/${webhookId}/recover`, { since: '2025-12-31T00:00:00Z' })).json();

    expect(await recover()).toEqual({ requeued: 10_000, complete: false });
    const { rows } = await sql<{ first: string; left: string }>`
      select min(id) filter (where status = 'failed') as left,
        (array_agg(id order by next_attempt_at) filter (where status = 'pending'))[1] as first
      from webhook_deliveries where webhook_id = ${webhookId}`.execute(db);
    expect(rows[0]?.left).toMatch(/10001$/);
    expect(rows[0]?.first).toMatch(/00001$/);
    expect(await recover()).toEqual({ requeued: 1, complete: true });
  });

  test.each([
    ['a span that ends before it begins', { since: '2026-01-02T00:00:00Z', until: '2026-01-01T00:00:00Z' }],
    ['a span of more than 30 days', { since: '2025-11-30T00:00:00Z', until: '2026-01-01T00:00:00Z' }],
    ['a beginning in the future', { since: '2027-01-01T00:00:00Z' }],
    ['no beginning', {}],
  ])('is refused for %s', async (_of, body) => {
    const { acme } = await start();
    const { webhookId } = await registerWebhook(acme, 'https://a.test/');

    expect((await acme('POST', `/v1/webhooks/${webhookId}/recover`, body)).json().code).toBe('BAD_REQUEST');
  });

  test('is refused for a webhook of another developer', async () => {
    const { acme, asDeveloper } = await start();
    const other = await asDeveloper({ mode: 'sandbox' });
    const { webhookId } = await registerWebhook(acme, 'https://a.test/');
    const body = { since: '2025-12-31T00:00:00Z' };

    expect(refusalOf(await other('POST', `/v1/webhooks/${webhookId}/recover`, body))).toBe('404 NOT_FOUND');
    expect((await acme('POST', `/v1/webhooks/${webhookId}/recover`, body)).statusCode).toBe(202);
  });
});
