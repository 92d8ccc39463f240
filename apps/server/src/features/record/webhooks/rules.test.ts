import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type AttemptOutcome,
  afterAttempt,
  deliveryHeaders,
  KEPT,
  newWebhookSecret,
  PLACES,
  passedOver,
  QUARTER,
  shareOut,
} from './webhooks.rules.ts';

const at = new Date('2026-02-01T12:34:57Z');
const after = (attempts: number, outcome: AttemptOutcome, { maxAttempts = 5, isLate = false } = {}) =>
  afterAttempt({ attempts, maxAttempts, isLate }, outcome, at);

const failures = ['timeout', 'connection_failed', 'dns_failed', 'tls_failed', 'blocked_address'];
const failed = fc.oneof(
  fc
    .integer({ min: 100, max: 599 })
    .filter((status) => status !== 410)
    .map((status) => ({ status })),
  fc.constantFrom(...failures).map((failure) => ({ failure })),
);
const isGood = (outcome: AttemptOutcome) => Math.floor((outcome.status ?? 0) / 100) === 2;

describe('the state of a delivery after an attempt', () => {
  test('waits 30, 60, 120, 240, 480 seconds, and then `failed`', () => {
    const waits = [1, 2, 3, 4, 5, 6].map((attempts) => {
      const { status, nextAttemptAt } = after(attempts, { status: 500 }, { maxAttempts: 6 });
      return nextAttemptAt ? (nextAttemptAt.getTime() - at.getTime()) / 1000 : status;
    });

    expect(waits).toEqual([30, 60, 120, 240, 480, 'failed']);
  });

  test.each([
    ['600', 600],
    [' 600 ', 600],
    ['Sun, 01 Feb 2026 12:44:57 GMT', 600],
    ['86400', 86_400],
    ['86401', 86_400],
    ['Tue, 01 Jan 2030 00:00:00 GMT', 86_400],
    ['5', 30],
    ['0', 30],
    ['Sun, 01 Feb 2026 12:00:00 GMT', 30],
    ['-1', 30],
    ['600.5', 30],
    ['soon', 30],
    ['', 30],
  ])('K9: after `Retry-After: %s` waits %i seconds', (retryAfter, seconds) => {
    const { nextAttemptAt } = after(1, { status: 503, retryAfter });

    expect(((nextAttemptAt?.getTime() ?? 0) - at.getTime()) / 1000).toBe(seconds);
  });

  test('is `delivered` only after 2xx, `failed` after the last attempt, and otherwise `pending`', () => {
    const numbers = fc.record({ attempts: fc.integer({ min: 1, max: 10 }), more: fc.nat(9) });
    fc.assert(
      fc.property(numbers, failed, ({ attempts, more }, outcome) => {
        const { status, nextAttemptAt, lastError } = after(attempts, outcome, {
          maxAttempts: attempts + more,
        });

        expect(status).toBe(isGood(outcome) ? 'delivered' : more > 0 ? 'pending' : 'failed');
        expect(nextAttemptAt).toEqual(
          status === 'pending' ? new Date(at.getTime() + 30_000 * 2 ** (attempts - 1)) : null,
        );
        expect(lastError === null).toBe(isGood(outcome));
      }),
    );
  });

  test.each<[AttemptOutcome, string | null, number | null]>([
    [{ status: 204 }, null, 204],
    [{ status: 199 }, 'http_199', 199],
    [{ status: 304 }, 'http_304', 304],
    [{ status: 302 }, 'redirect_refused', 302],
    [{ status: 503 }, 'http_503', 503],
    [{ failure: 'tls_failed' }, 'tls_failed', null],
  ])('names the outcome %j as %j', (outcome, lastError, lastStatusCode) => {
    expect(after(1, outcome)).toMatchObject({ lastError, lastStatusCode });
  });

  test('calls an endpoint prompt unless the attempt fails or is late', () => {
    expect(after(1, { status: 200 }).isPrompt).toBe(true);
    expect(after(1, { status: 200 }, { isLate: true }).isPrompt).toBe(false);
    expect(after(1, { status: 500 }).isPrompt).toBe(false);
    expect(after(1, { failure: 'timeout' }).isPrompt).toBe(false);
  });
});

describe('the signature of a delivery', () => {
  const body =
    '{"id":"evt_01K9Z3QW5M8T2V4X6Y7Z8A9B05","type":"grant.revoked","createdAt":"2026-02-01T12:34:56.789Z","timestamp":"2026-02-01T12:34:56.789Z","developerId":"dev_01K9Z3QW5M8T2V4X6Y7Z8A9B03","specVersion":"0.6","data":{"grantId":"grnt_01K9Z3QW5M8T2V4X6Y7Z8A9B02","cascade":false}}';
  const event = {
    eventId: 'evt_01K9Z3QW5M8T2V4X6Y7Z8A9B05',
    eventType: 'grant.revoked',
    deliveryId: 'whd_1',
  };
  const secret = 'whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=';
  const signed = { ...event, body, at, secret, previousSecret: undefined };

  test('is the published vector’s', () => {
    expect(deliveryHeaders(signed)).toEqual({
      'content-type': 'application/json',
      'user-agent': 'Service-Webhooks/0.1',
      'x-service-signature': 'sha256=0586594ffaa41dbad658022b444862610bc0932f9c99bef5797bacc86129abf0',
      'x-service-timestamp': '1769949297',
      'x-service-signature-v2': 'sha256=12e6f8155ba8b19f443d0b01ef8500b5d06efc36b9ab0383c1b15f0ef4b97523',
      'webhook-id': event.eventId,
      'webhook-timestamp': '1769949297',
      'webhook-signature': 'v1,8A7S7rm9jnh+pVp7EA9vETRajLsBPnz6oiaJr1nC7dY=',
      'x-service-delivery': 'whd_1',
      'x-service-event': 'grant.revoked',
    });
  });

  test('is made with both secrets during the grace period of a rotation, the new secret first', () => {
    const [previousSecret, newer] = [secret, newWebhookSecret()];
    const headers = deliveryHeaders({ ...signed, secret: newer, previousSecret });
    const alone = deliveryHeaders({ ...signed, secret: newer });

    const [first, second] = String(headers['webhook-signature']).split(' ');
    expect(first).toBe(alone['webhook-signature']);
    expect(second).toBe(deliveryHeaders(signed)['webhook-signature']);
    expect(headers['x-service-signature']).toBe(alone['x-service-signature']);
  });

  test('has a secret of 32 random bytes, in the form of Standard Webhooks', () => {
    const [one, other] = [newWebhookSecret(), newWebhookSecret()];

    expect(one).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(one).not.toBe(other);
  });
});

const names = Array.from({ length: 60 }, (_, at) => `dev_${String(at).padStart(2, '0')}`);
const sum = (numbers: Iterable<number>) => [...numbers].reduce((total, each) => total + each, 0);

/** Developers with something due, in the order of turns, and a lane with so many places that are taken. */
const lane = fc
  .record({
    due: fc.shuffledSubarray(names, { minLength: 1 }),
    held: fc.dictionary(fc.constantFrom(...names), fc.integer({ min: 1, max: 20 })),
    free: fc.integer({ min: 0, max: PLACES }),
  })
  .map(({ due, held, free }) => ({ due, places: { free, held: new Map(Object.entries(held)) } }));

test('no developer goes beyond a quarter of a lane while something of another is due', () => {
  fc.assert(
    fc.property(lane, ({ due, places }) => {
      for (const [developerId, share] of shareOut(due, places, { isAlone: false }))
        expect((places.held.get(developerId) ?? 0) + share).toBeLessThanOrEqual(QUARTER);
    }),
  );
  expect(QUARTER).toBe(12);
});

test('a free place idles only while each developer with something due holds its share', () => {
  fc.assert(
    fc.property(lane, ({ due, places }) => {
      const shares = shareOut(due, places, { isAlone: false });
      const left = places.free - sum(shares.values());

      expect(left).toBeGreaterThanOrEqual(0);
      for (const developerId of left > 0 ? due : []) {
        const holds = (places.held.get(developerId) ?? 0) + (shares.get(developerId) ?? 0);
        expect(holds).toBeGreaterThanOrEqual(left > KEPT ? QUARTER : 1);
      }
    }),
  );
});

test('the last ten places go to developers that hold none, one each', () => {
  fc.assert(
    fc.property(lane, fc.integer({ min: 1, max: KEPT }), ({ due, places: { held } }, free) => {
      const shares = shareOut(due, { free, held }, { isAlone: due.length === 1 });
      const idle = due.filter((developerId) => !held.has(developerId));

      expect([...shares]).toEqual(idle.slice(0, free).map((developerId) => [developerId, 1]));
    }),
  );
  expect(KEPT).toBe(10);
});

test('the developer that holds the fewest is first, and among equals the first in turn', () => {
  const held = new Map([
    ['dev_00', 3],
    ['dev_01', 1],
  ]);

  const shares = shareOut(['dev_00', 'dev_02', 'dev_01'], { free: KEPT + 4, held }, { isAlone: false });

  expect([...shares]).toEqual([
    ['dev_02', 3],
    ['dev_01', 1],
  ]);
});

test('a developer has all places but the last ten while nothing of another is due', () => {
  const alone = (free: number, holds: number) =>
    shareOut(['dev_00'], { free, held: new Map([['dev_00', holds]]) }, { isAlone: true }).get('dev_00');

  expect(alone(PLACES, 0)).toBe(PLACES - KEPT);
  expect(alone(KEPT + 1, 39)).toBe(1);
  expect(alone(KEPT, 40)).toBeUndefined();
});

test('the developers that are passed over are those that get no place', () => {
  fc.assert(
    fc.property(lane, ({ places }) => {
      const given = (developerId: string) => shareOut([developerId], places, { isAlone: false }).size > 0;

      expect(passedOver(places)).toEqual(
        [...places.held.keys()].filter((developerId) => !given(developerId)),
      );
    }),
  );
});

test('every developer gets its turn, however much is due of others', () => {
  const alwaysDue = fc.shuffledSubarray(names, { minLength: 2 });
  const lasting = fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 20 });
  fc.assert(
    fc.property(alwaysDue, lasting, (due, rounds) => {
      const served = new Set<string>();
      let running: { developerId: string; until: number }[] = [];
      let turn = 0;
      for (let now = 0; now < 40; now += 1) {
        running = running.filter(({ until }) => until > now);
        const held = new Map<string, number>();
        for (const { developerId } of running) held.set(developerId, (held.get(developerId) ?? 0) + 1);
        const order = [...due.slice(turn), ...due.slice(0, turn)];
        const shares = shareOut(order, { free: PLACES - running.length, held }, { isAlone: false });
        for (const [developerId, share] of shares) {
          served.add(developerId);
          turn = (due.indexOf(developerId) + 1) % due.length;
          const until = now + (rounds[now % rounds.length] ?? 1);
          for (let at = 0; at < share; at += 1) running.push({ developerId, until });
        }
      }
      expect(served.size).toBe(due.length);
    }),
  );
});
