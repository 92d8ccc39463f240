import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { entriesOf, refusalOf } from '../../../../test/app/flow.ts';
import { startListening } from '../../../../test/app/listening.ts';
import { onThisMachine, proxied, through } from '../../../../test/app/proxy.ts';
import { startApp } from '../../../../test/app/start-app.ts';

type Listening = Awaited<ReturnType<typeof startListening>>;
let started: Promise<Listening> | undefined;
afterAll(async () => (await started)?.stop());
const start = async () => {
  started ??= startListening({ isShared: true, env: onThisMachine });
  const service = await started;
  return { service, acme: await service.asDeveloper({ mode: 'sandbox' }) };
};

/** Sends these very bytes. @returns everything that comes back until the connection ends */
async function raw(service: Listening, text: string): Promise<string> {
  const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
  socket.write(text, 'latin1');
  let answer = '';
  socket.on('data', (part) => (answer += part)).on('error', () => {});
  await new Promise((done) => socket.once('close', done)); // `once` would reject after a reset
  return answer;
}

const HEAD = (token: string, more: string, target = '/v1/vault/proxy/github/repos/a', method = 'GET') =>
  `${method} ${target} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${token}\r\nconnection: close\r\n${more}\r\n`;

const statusOf = (answer: string) => Number(answer.split(' ')[1]);

describe('V14: bytes that two servers could read differently', () => {
  test.each([
    ['two lengths', 'content-length: 3\r\ncontent-length: 4\r\n', 'abcd', 'POST'],
    ['a length and chunks', 'content-length: 3\r\ntransfer-encoding: chunked\r\n', '0\r\n\r\n', 'POST'],
    ['chunks under another name', 'transfer-encoding: chunked, identity\r\n', '0\r\n\r\n', 'POST'],
    ['an odd length', 'content-length: +3\r\n', 'abc', 'POST'],
    ['a header that goes on in the next line', 'accept: a\r\n b: c\r\n', '', 'GET'],
    ['a bare line feed in a header', 'accept: a\nauthorization: b\r\n', '', 'GET'],
    ['a NUL in a header', 'accept: a\0b\r\n', '', 'GET'],
    ['a blank before the colon', 'accept : a\r\n', '', 'GET'],
    ['a forwarded header twice', 'accept: a\r\nAccept: b\r\n', '', 'GET'],
    ['two upstreams', 'behest-upstream: api\r\nbehest-upstream: api\r\n', '', 'GET'],
    ['a body where there is none', 'content-length: 4\r\n', 'GET ', 'GET'],
    ['headers of a megabyte', `x: ${'a'.repeat(1_000_000)}\r\n`, '', 'GET'],
    ['hundreds of headers', 'x-a: b\r\n'.repeat(300), '', 'GET'],
  ])('%s: nothing is sent', async (_, more, body, method) => {
    const { acme, service } = await start();
    const { grantToken, receiver } = await proxied(acme);
    const sendIt = (headers: string, text: string) =>
      raw(service, HEAD(grantToken, headers, undefined, method) + text);

    const answer = await sendIt(more, body);

    expect(answer === '' || (statusOf(answer) >= 400 && statusOf(answer) < 500), answer.slice(0, 80)).toBe(
      true,
    );
    expect(receiver.received).toEqual([]);
    const control =
      method === 'POST' ? await sendIt('content-length: 3\r\n', 'abc') : await sendIt('accept: a\r\n', '');
    expect([statusOf(control), receiver.received.length]).toEqual([200, 1]);
  });

  test.each([
    ['another server', 'http://127.0.0.1:1/repos/a'],
    ['this service, with its name', 'http://localhost/v1/vault/proxy/github/repos/a'],
    ['an authority', '127.0.0.1:1'],
    ['two slashes', '//v1/vault/proxy/github/repos/a'],
    ['dots', '/v1/vault/proxy/github/repos/../admin'],
    ['encoded dots', '/v1/vault/proxy/github/repos/%2e%2e/admin'],
    ['bytes', '/v1/vault/proxy/github/repos/\xff'],
  ])('a target with %s leads nowhere', async (_, target) => {
    const { acme, service } = await start();
    const { grantToken, receiver } = await proxied(acme);
    const answer = await raw(service, HEAD(grantToken, '', target));
    expect(answer === '' || statusOf(answer) >= 400).toBe(true);
    expect(receiver.received).toEqual([]);
    expect(statusOf(await raw(service, HEAD(grantToken, '')))).toBe(200);
  });

  test('chunks of an agent are counted, and cut at the limit', async () => {
    const { acme, service } = await start();
    const { grantToken, receiver } = await proxied(acme, { profile: { maxRequestBytes: 4 } });
    const chunked = (text: string) =>
      raw(service, HEAD(grantToken, 'transfer-encoding: chunked\r\n', undefined, 'POST') + text);
    expect(statusOf(await chunked('4\r\nabcd\r\n0\r\n\r\n'))).toBe(200);
    expect(receiver.received[0]).toMatchObject({ body: 'abcd', headers: { 'transfer-encoding': 'chunked' } });
    expect(statusOf(await chunked('5\r\nabcde\r\n0\r\n\r\n'))).toBe(413);
    expect(receiver.received.filter(({ body }) => body.length > 4)).toEqual([]);
  });
});

describe('streams', () => {
  /** An open answer through the proxy. */
  async function open(service: Listening, token: string, path = '/repos/a') {
    const call = httpRequest(`${service.url}/v1/vault/proxy/github${path}`, {
      headers: { authorization: `Bearer ${token}` },
    });
    call.on('error', () => {});
    call.end();
    const [answer] = await once(call, 'response');
    let text = '';
    answer.on('data', (part: Buffer) => (text += part)).on('error', () => {});
    return { call, answer, text: () => text, ended: new Promise((done) => answer.once('close', done)) };
  }

  test('parts arrive as they are sent, and the end of the grant cuts a stream of events', async () => {
    const { acme, service } = await start();
    const { grantToken, grantId, receiver } = await proxied(acme);
    let ended = false;
    receiver.answer((request, response) => {
      request.socket.on('close', () => (ended = true));
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: 1\n\n');
    });

    const stream = await open(service, grantToken);
    await vi.waitFor(() => expect(stream.text()).toBe('data: 1\n\n'));
    expect(ended).toBe(false);
    await acme('DELETE', `/v1/grants/${grantId}`);
    await stream.ended;

    await vi.waitFor(() => expect(ended).toBe(true));
    await vi.waitFor(async () => {
      const { calls } = (await acme('GET', '/v1/vault/proxy/calls')).json();
      expect(calls).toMatchObject([{ status: 200, outcome: 'grant_ended' }]);
    });
  });

  test('an agent that goes away ends the request at the upstream', async () => {
    const { acme, service } = await start();
    const { grantToken, receiver } = await proxied(acme);
    let ended = 0;
    receiver.answer((request, response) => {
      request.socket.on('close', () => (ended += 1));
      response.writeHead(200).write('begun');
    });
    const stream = await open(service, grantToken);
    stream.call.destroy();
    await vi.waitFor(() => expect(ended).toBe(1));
    receiver.answer((request) => void request.socket.on('close', () => (ended += 1)));
    const waiting = httpRequest(`${service.url}/v1/vault/proxy/github/repos/a`, {
      headers: { authorization: `Bearer ${grantToken}` },
    }).on('error', () => {});
    waiting.end();
    await vi.waitFor(() => expect(receiver.received).toHaveLength(2));
    waiting.destroy();
    await vi.waitFor(() => expect(ended).toBe(2));
  });

  test('twenty calls of a token may be open, and the next one waits for room', async () => {
    const { acme, service } = await start();
    const { grantToken, receiver } = await proxied(acme);
    receiver.answer((_request, response) => void response.writeHead(200).write('begun'));
    const streams = await Promise.all(Array.from({ length: 20 }, () => open(service, grantToken)));
    const refused = await through(service, grantToken, '/repos/a');
    expect(refusalOf(refused)).toBe('429 TOO_MANY_CONNECTIONS');
    expect(refused.headers).toMatchObject({ 'retry-after': '1', 'behest-proxy': 'refused' });
    for (const { call } of streams) call.destroy();
    receiver.answerStatus(204);
    await vi.waitFor(async () => {
      expect((await through(service, grantToken, '/repos/a')).statusCode).toBe(204);
    });
  });
});

describe('V13: an upstream that gives the credential back', () => {
  const secret = 'upstream-access-1';

  test('is not heard: in the first part 502, later the connection is cut before those bytes', async () => {
    const { acme, service } = await start();
    const { grantToken, receiver } = await proxied(acme);
    receiver.answer((_request, response) => void response.end(`you sent ${secret}`));
    const first = await through(service, grantToken, '/repos/a');
    expect(refusalOf(first)).toBe('502 UPSTREAM_ERROR credential_reflected');
    expect(first.body).not.toContain(secret);

    receiver.answer((_request, response) => {
      response.write('begun ');
      setTimeout(() => response.write(secret.slice(0, 8)), 30);
      setTimeout(() => response.end(secret.slice(8)), 60);
    });
    const later = await raw(service, HEAD(grantToken, ''));
    expect(statusOf(later)).toBe(200);
    expect(later).toContain('begun ');
    expect(later).not.toContain('upstream-a');
    expect(later.endsWith('0\r\n\r\n')).toBe(false);

    receiver.answer((_request, response) => void response.setHeader('etag', secret).end('fine'));
    const inHeader = await through(service, grantToken, '/repos/a');
    expect([inHeader.body, inHeader.headers.etag]).toEqual(['fine', undefined]);
    const [entry] = await entriesOf(acme, 'vault.proxy_blocked');
    expect(entry?.metadata).toMatchObject({ reason: 'credential_reflected' });
    expect(JSON.stringify(await entriesOf(acme, 'vault.proxy.called'))).not.toContain(secret);
  });

  test('is not heard in an encoding that hides it', async () => {
    const { acme, service } = await start();
    const { grantToken, receiver } = await proxied(acme);
    receiver.answer((_request, response) => void response.setHeader('content-encoding', 'gzip').end('x'));
    expect(refusalOf(await through(service, grantToken, '/repos/a'))).toBe('502 UPSTREAM_ERROR protocol');
  });
});

describe('an upstream', () => {
  test('is cut when it answers too much, and refused when it says so ahead', async () => {
    const { acme, service } = await start();
    const { grantToken, receiver } = await proxied(acme, { profile: { maxResponseBytes: 10 } });
    receiver.answer((_request, response) => void response.end('0123456789'));
    expect((await through(service, grantToken, '/repos/a')).statusCode).toBe(200);
    receiver.answer((_request, response) => void response.end('0123456789a'));
    expect(refusalOf(await through(service, grantToken, '/repos/a'))).toBe('502 UPSTREAM_ERROR too_large');
    receiver.answer((_request, response) => {
      response.write('01234');
      setTimeout(() => response.end('56789a'), 30);
    });
    expect((await raw(service, HEAD(grantToken, ''))).endsWith('0\r\n\r\n')).toBe(false);
  });

  test('is given up when it is slow, before and after its first byte', async () => {
    const { acme, service } = await start();
    const { grantToken, receiver } = await proxied(acme, { profile: { timeoutSeconds: 1 } });
    receiver.answer(() => {});
    expect(refusalOf(await through(service, grantToken, '/repos/a'))).toBe('502 UPSTREAM_ERROR timeout');
    receiver.answer((_request, response) => void response.write('begun'));
    const cut = await raw(service, HEAD(grantToken, ''));
    expect([statusOf(cut), cut.endsWith('0\r\n\r\n')]).toEqual([200, false]);
  });

  test('is not heard when its headers are endless, or when it changes the protocol', async () => {
    const { acme, service } = await start();
    const { grantToken, receiver } = await proxied(acme);
    receiver.answer((_request, response) => void response.setHeader('x', 'a'.repeat(20_000)).end());
    expect(refusalOf(await through(service, grantToken, '/repos/a'))).toBe('502 UPSTREAM_ERROR protocol');
    receiver.answer((request) => {
      request.socket.end('HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n');
    });
    expect(refusalOf(await through(service, grantToken, '/repos/a'))).toBe('502 UPSTREAM_ERROR protocol');
  });

  test('is not called on this machine where the operator does not allow it', async () => {
    const { acme, service } = await start();
    const { grantToken, receiver } = await proxied(acme);
    // The same service but for this setting, so that it takes the token.
    const strict = await startApp({ env: { PUBLIC_BASE_URL: service.settings.http.publicBaseUrl } });
    expect(refusalOf(await through(strict, grantToken, '/repos/a'))).toBe(
      '502 UPSTREAM_ERROR blocked_address',
    );
    expect(receiver.received).toEqual([]);
    expect((await through(service, grantToken, '/repos/a')).statusCode).toBe(200);
    const put = (origin: string) =>
      strict.calling(acme.apiKey)('PUT', '/v1/vault/proxy-profiles/github', {
        upstreams: { api: origin },
        inject: { style: 'bearer' },
        rules: [{ id: 'a', methods: ['GET'], path: '/', unmapped: true }],
      });
    const refused = [
      'http://api.example.com',
      'https://127.0.0.1',
      'https://10.0.0.1',
      'https://[::1]',
      'https://localhost',
      'https://a.internal',
      'https://0x7f000001',
      'https://api.example.com/',
      'https://api.example.com/v1',
      'https://u:p@api.example.com',
      'https://API.example.com',
      'ftp://api.example.com',
      'https://169.254.169.254',
    ];
    for (const origin of refused) expect((await put(origin)).statusCode, origin).toBe(400);
    expect((await put('https://api.example.com')).statusCode).toBe(200);
  });
});
