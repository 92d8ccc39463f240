import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { constructEvent, verifyWebhook, verifyWebhookSignature } from './webhooks.ts';

// The vector of the service's own description of deliveries.
const SECRET = 'whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=';
const OTHER = 'whsec_ZmVkY2JhOTg3NjU0MzIxMGZlZGNiYTk4NzY1NDMyMTA=';
const TIMESTAMP = '1769949297';
const BODY =
  '{"id":"evt_01K9Z3QW5M8T2V4X6Y7Z8A9B05","type":"grant.revoked","createdAt":"2026-02-01T12:34:56.789Z","timestamp":"2026-02-01T12:34:56.789Z","developerId":"dev_01K9Z3QW5M8T2V4X6Y7Z8A9B03","specVersion":"0.6","data":{"grantId":"grnt_01K9Z3QW5M8T2V4X6Y7Z8A9B02","cascade":false}}';
const HEADERS = {
  'Webhook-Id': 'evt_01K9Z3QW5M8T2V4X6Y7Z8A9B05',
  'Webhook-Timestamp': TIMESTAMP,
  'Webhook-Signature': 'v1,8A7S7rm9jnh+pVp7EA9vETRajLsBPnz6oiaJr1nC7dY=',
};
const V1 = 'sha256=0586594ffaa41dbad658022b444862610bc0932f9c99bef5797bacc86129abf0';
const V2 = 'sha256=12e6f8155ba8b19f443d0b01ef8500b5d06efc36b9ab0383c1b15f0ef4b97523';

beforeEach(() => void vi.useFakeTimers({ now: Number(TIMESTAMP) * 1_000 }));
afterEach(() => void vi.useRealTimers());

describe('a delivery', () => {
  test('is read from text or bytes, with headers of any kind, by one of several secrets', () => {
    for (const payload of [BODY, new TextEncoder().encode(BODY)]) {
      for (const headers of [HEADERS, new Headers(HEADERS)])
        expect(constructEvent(payload, headers, SECRET)).toMatchObject({
          ...{ type: 'grant.revoked', data: { cascade: false } },
        });
    }
    expect(constructEvent(BODY, HEADERS, [OTHER, SECRET]).id).toBe(HEADERS['Webhook-Id']);
    const rotated = {
      ...HEADERS,
      'Webhook-Signature': `v1,${'A'.repeat(43)}= ${HEADERS['Webhook-Signature']}`,
    };
    expect(constructEvent(BODY, rotated, SECRET).type).toBe('grant.revoked');
  });

  test('without the standard header is read by the second signature, and never by the first', () => {
    const pair = { 'x-service-timestamp': TIMESTAMP, 'x-service-signature-v2': V2 };

    expect(constructEvent(BODY, pair, SECRET).type).toBe('grant.revoked');
    expect(() => constructEvent(BODY, { 'x-service-signature': V1 }, SECRET)).toThrow('missing_header');
    const standard = {
      ...pair,
      'webhook-signature': 'v1,AAAA',
      'webhook-timestamp': TIMESTAMP,
      'webhook-id': 'evt_1',
    };
    expect(() => constructEvent(BODY, standard, SECRET)).toThrow('bad_signature');
  });

  const text = Object.fromEntries(Object.entries(HEADERS));
  test.each([
    ['missing_header', BODY, { 'webhook-id': 'evt_1' }],
    ['missing_header', BODY, { ...text, 'Webhook-Id': '' }],
    ['bad_signature', BODY, { ...text, 'Webhook-Id': 'evt_2' }],
    ['bad_signature', `${BODY} `, HEADERS],
    ['bad_signature', BODY, { ...text, 'Webhook-Signature': `v1a,${'A'.repeat(43)}=` }],
    ['stale', BODY, { ...text, 'Webhook-Timestamp': '1769949297.5' }],
    ['stale', BODY, { ...text, 'Webhook-Timestamp': 'NaN' }],
  ])('is refused as %s (%#)', (reason, payload, headers) => {
    expect(() => constructEvent(payload, headers, SECRET)).toThrow(
      expect.objectContaining({ name: 'BehestWebhookError', reason }),
    );
  });

  test('is taken for 300 seconds before and after its time, and not for one more', () => {
    const at = Number(TIMESTAMP) * 1_000;
    const refuses = (milliseconds: number) => {
      vi.setSystemTime(at + milliseconds);
      const pair = { payload: BODY, signature: V2, timestamp: TIMESTAMP, secret: SECRET };
      const isRefused = !verifyWebhook(pair);
      const read = () => constructEvent(BODY, HEADERS, SECRET);
      if (isRefused) expect(read).toThrow('stale');
      else expect(read).not.toThrow();
      return isRefused;
    };

    expect([-300_001, -300_000, 300_000, 300_001].map(refuses)).toEqual([true, false, false, true]);
  });

  test('is taken once by a program that keeps ids', async () => {
    const known = new Set<string>();
    const seen = async (id: string) => known.has(id) || !known.add(id);

    expect(await constructEvent(BODY, HEADERS, SECRET, { seen })).toMatchObject({ type: 'grant.revoked' });
    await expect(constructEvent(BODY, HEADERS, SECRET, { seen })).rejects.toMatchObject({
      reason: 'repeated',
    });
  });

  test('that was parsed is refused, with the reason', () => {
    // As a program in JavaScript would.
    const parsed = JSON.parse(BODY) as string;

    expect(() => constructEvent(parsed, HEADERS, SECRET)).toThrow('payload has to be the raw body');
    expect(() => constructEvent(BODY, HEADERS, 'whsec_é')).toThrow('secret has to be the one');
  });
});

test.each([[''], ['whsec_'], ['whsec_AAAA'], [[]], [[SECRET, '']], [undefined]])(
  'a secret that anybody could sign with is a fault of the program: %j',
  async (secret) => {
    const algorithm = { name: 'HMAC', hash: 'SHA-256' };
    // HMAC fills a key with zeros, so that one zero signs as no bytes do.
    const key = await crypto.subtle.importKey('raw', new Uint8Array(1), algorithm, false, ['sign']);
    const message = new TextEncoder().encode(`${HEADERS['Webhook-Id']}.${TIMESTAMP}.${BODY}`);
    const signed = Buffer.from(await crypto.subtle.sign('HMAC', key, message)).toString('base64');
    const given = secret as string; // as a program in JavaScript would
    const fault = expect.objectContaining({ code: 'CONFIGURATION' });
    const delivery = { payload: BODY, signature: V2, timestamp: TIMESTAMP };

    const headers = { ...HEADERS, 'Webhook-Signature': `v1,${signed}` };
    expect(() => constructEvent(BODY, headers, given)).toThrow(fault);
    expect(() => verifyWebhook({ ...delivery, secret: given })).toThrow(fault);
    expect(() => verifyWebhookSignature(BODY, V1, given)).toThrow(fault);
  },
);

test('the signature of the body alone is checked for programs that were moved', () => {
  expect(verifyWebhookSignature(BODY, V1, SECRET)).toBe(true);
  expect(verifyWebhookSignature(BODY, V1, OTHER)).toBe(false);
  expect(verifyWebhookSignature(`${BODY} `, V1, SECRET)).toBe(false);
  expect(verifyWebhookSignature(BODY, V1.slice(0, -1), SECRET)).toBe(false);
});
