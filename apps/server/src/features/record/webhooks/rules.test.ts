import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type AttemptOutcome, afterAttempt, deliveryHeaders, newWebhookSecret } from './webhooks.rules.ts';

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
