import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { type CallLine, type Chance, createTransport, type Request } from './transport.ts';

type Reply = (response: ServerResponse, request: IncomingMessage) => void;

const ok: Reply = (response) =>
  void response.setHeader('content-type', 'application/json').end('{"isDone":true}');
const drop: Reply = (response) => void response.destroy();
const silence: Reply = () => undefined;
const status =
  (code: number, headers: Record<string, string> = {}, body = '{"code":"OTHER","message":"No."}'): Reply =>
  (response) =>
    void response.writeHead(code, { 'content-type': 'application/json', ...headers }).end(body);

/** A service that gives these answers one after the other, and a transport with a clock that waits move. */
async function start(replies: readonly Reply[], more: object = {}) {
  const left = [...replies];
  const keys: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    keys.push(request.headers['idempotency-key']?.toString());
    request.resume();
    (left.shift() ?? ok)(response, request);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  // A server that listens on a port has an address with a port.
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const waits: number[] = [];
  let clock = 0;
  const chance: Chance = {
    now: () => clock,
    random: () => 0.5,
    wait: async (milliseconds) => {
      waits.push(milliseconds);
      clock += milliseconds;
    },
  };
  const lines: CallLine[] = [];
  const setup = { baseUrl, fetch, timeout: 5_000, totalTimeout: 120_000, maxRetries: 3, headers: {} };
  const transport = createTransport({ ...setup, logger: (line) => lines.push(line), ...more }, chance);
  return { transport, keys, waits, lines, baseUrl };
}

const get: Request = {
  method: 'GET',
  template: '/v1/x/{id}',
  path: '/v1/x/7',
  repeats: 'always',
  options: {},
};
const keyed: Request = { ...get, method: 'POST', body: {}, idempotencyKey: 'one-call' };
const bare: Request = { ...get, method: 'POST', body: {}, repeats: 'when-unsent' };

describe('a request is sent again', () => {
  const [busy, gateway, down, late] = [status(429), status(502), status(503), status(504)];
  test.each([
    ['a lost connection', drop, 2, 2, 1],
    ['429', busy, 2, 2, 2],
    ['502', gateway, 2, 2, 1],
    ['503', down, 2, 2, 1],
    ['504', late, 2, 2, 1],
    ['500', status(500), 1, 1, 1],
    ['400', status(400), 1, 1, 1],
    ['409', status(409, {}, '{"code":"IDEMPOTENCY_CONFLICT","message":"Another body."}'), 1, 1, 1],
    ['a redirect', status(302, { location: 'https://elsewhere.example' }), 1, 1, 1],
  ])('after %s only where nothing can happen twice', async (_, reply, asGet, asKeyed, asBare) => {
    const sent: number[] = [];
    for (const request of [get, keyed, bare]) {
      const { transport, keys } = await start([reply]);
      const answer = await transport(request).catch((error: unknown) => error);
      sent.push(keys.length);
      expect(answer instanceof Error).toBe(keys.length === 1);
    }

    expect(sent).toEqual([asGet, asKeyed, asBare]);
  });

  test('after a timeout like after a lost connection', async () => {
    const patient = await start([silence], { timeout: 150 });
    expect((await patient.transport(get)).data).toEqual({ isDone: true });
    const { transport, keys } = await start([silence], { timeout: 150 });

    await expect(transport(bare)).rejects.toMatchObject({
      name: 'BehestTimeoutError',
      code: 'NETWORK',
      attempts: 1,
    });
    expect(keys).toHaveLength(1);
  });

  test('when the connection was refused, whatever it is', async () => {
    const refused = Object.assign(new TypeError('fetch failed'), { cause: { code: 'ECONNREFUSED' } });
    const asked = vi
      .fn()
      .mockRejectedValueOnce(refused)
      .mockImplementation(async () => Response.json({ isDone: true }));
    const { transport } = await start([], { fetch: asked });

    expect((await transport(bare)).data).toEqual({ isDone: true });
    expect(asked).toHaveBeenCalledTimes(2);
  });

  test('with one idempotency key, at most as often as it was told', async () => {
    const { transport, keys, waits } = await start([drop, drop, drop, drop, drop]);

    await expect(transport(keyed)).rejects.toMatchObject({ name: 'BehestNetworkError', attempts: 4 });

    expect(keys).toEqual(['one-call', 'one-call', 'one-call', 'one-call']);
    expect(waits).toEqual([250, 500, 1_000]); // the half of 500 milliseconds, doubled each time
    const once = await start([drop]);
    await expect(once.transport({ ...get, options: { maxRetries: 0 } })).rejects.toThrow();
    expect(once.keys).toHaveLength(1);
  });
});

describe('a wait', () => {
  test('is as long as the service says, in seconds or as a date', async () => {
    const { transport, waits } = await start([
      status(429, { 'retry-after': '17' }),
      status(503, { 'retry-after': '2' }),
    ]);

    await transport(get);

    expect(waits).toEqual([17_000, 2_000]);
    const date = new Date(Date.now() + 60_000).toUTCString();
    const dated = await start([status(429, { 'retry-after': date })]);
    await dated.transport(get);
    expect(dated.waits[0]).toBeGreaterThan(50_000);
    expect(dated.waits[0]).toBeLessThanOrEqual(60_000);
  });

  test('that is longer than the call may take is not begun', async () => {
    const { transport, waits, keys } = await start([status(429, { 'retry-after': '120' })]);

    await expect(transport(get)).rejects.toMatchObject({ name: 'BehestRateLimitError', retryAfter: 120 });
    expect([waits, keys.length]).toEqual([[], 1]);
  });
});

test('the signal of a call ends it, and the reason is the signal’s', async () => {
  const { transport } = await start([silence]);
  const ending = new AbortController();

  const call = transport({ ...get, options: { signal: ending.signal } });
  ending.abort(new Error('no longer needed'));

  await expect(call).rejects.toThrow('no longer needed');
});

test('a change that a second member has to agree to throws, and is not sent again', async () => {
  const body = '{"changeId":"chg_1","status":"open","about":"settings","expiresAt":"2026-01-02T00:00:00Z"}';
  const { transport, keys } = await start([status(202, {}, body)]);

  await expect(transport(keyed)).rejects.toMatchObject({
    ...{ code: 'CHANGE_PROPOSED', statusCode: 202, details: { changeId: 'chg_1' } },
  });
  expect(keys).toHaveLength(1);
  const { transport: other } = await start([status(202, {}, '{"closedAt":"2026-01-02T00:00:00Z"}')]);
  expect((await other(keyed)).data).toEqual({ closedAt: '2026-01-02T00:00:00Z' });
});

test('a deletion whose first answer was lost has succeeded when nothing is left', async () => {
  const gone = status(404, {}, '{"code":"NOT_FOUND","message":"Not here."}');
  const request: Request = { ...get, method: 'DELETE' };

  const { transport } = await start([drop, gone]);
  expect((await transport(request)).data).toBeUndefined();
  const first = await start([gone]);
  await expect(first.transport(request)).rejects.toMatchObject({ code: 'NOT_FOUND' });
});

test('a call whose first attempt still runs waits for it, and no other call does', async () => {
  const running = status(409, {}, '{"code":"IDEMPOTENCY_IN_PROGRESS","message":"It runs."}');

  const own = await start([drop, running]);
  expect((await own.transport(keyed)).data).toEqual({ isDone: true });
  expect(own.waits).toEqual([250, 1_000]);
  const other = await start([running]);
  await expect(other.transport(keyed)).rejects.toMatchObject({ code: 'IDEMPOTENCY_IN_PROGRESS' });
});

test('an error is read in each of the forms, and repeats no token', async () => {
  const token = `bh_live_${'k'.repeat(43)}`;
  const forms: [string, string, string][] = [
    ['{"code":"A","message":"flat"}', 'A', 'flat'],
    ['{"error":{"code":"B","message":"nested"}}', 'B', 'nested'],
    ['{"error":"invalid_grant","error_description":"of OAuth"}', 'invalid_grant', 'of OAuth'],
    ['{"schemas":[],"detail":"of SCIM","status":"400"}', 'HTTP_400', 'of SCIM'],
    [`{"code":"C","message":"no ${token}"}`, 'C', 'no …'],
    ['<html>', 'HTTP_400', 'The service answered with status 400.'],
  ];

  for (const [body, code, message] of forms) {
    const { transport } = await start([status(400, { 'x-request-id': 'r1' }, body)]);
    const error = await transport(get).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      name: 'BehestValidationError',
      code,
      message,
      statusCode: 400,
      requestId: 'r1',
    });
    expect(JSON.stringify(Object(error).body)).not.toContain('kkk');
  }
  const { transport } = await start([status(400, {}, 'x'.repeat(20_000))]);
  const long = await transport(get).catch((thrown: unknown) => thrown);
  expect(Object(long).body).toHaveLength(8_192);
});

test('a proof is made again with the nonce that the service asks for, once', async () => {
  const asks = status(401, { 'dpop-nonce': 'n1' }, '{"error":"use_dpop_nonce"}');
  const proof = vi.fn(async (_: string, __: string, more?: { nonce?: string }) => `proof ${more?.nonce}`);
  const request: Request = { ...get, isGrant: true, credential: 'token', options: { dpop: { proof } } };
  const heads: (string | undefined)[] = [];
  const note: Reply = (response, { headers }) => {
    heads.push(headers.authorization, headers.dpop?.toString());
    ok(response, Object(undefined));
  };

  const { transport } = await start([asks, note]);
  await transport(request);

  expect(heads).toEqual(['DPoP token', 'proof n1']);
  const stubborn = await start([asks, asks]);
  await expect(stubborn.transport(request)).rejects.toMatchObject({ code: 'use_dpop_nonce' });
});

test('the logger hears of each attempt, without ids', async () => {
  const { transport, lines } = await start([drop, status(200, { 'x-request-id': 'r1' }, '{}')]);

  await transport(get);

  expect(lines).toEqual([
    { method: 'GET', path: '/v1/x/{id}', durationMs: expect.any(Number) },
    { method: 'GET', path: '/v1/x/{id}', status: 200, requestId: 'r1', durationMs: expect.any(Number) },
  ]);
});
