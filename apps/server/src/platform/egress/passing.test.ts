import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import certificate from '../../../test/app/certificate.json' with { type: 'json' };
import { startReceiver } from '../../../test/app/receiving.ts';
import { createEgress, type EgressOptions } from './egress.ts';
import type { PassedRequest, PassingTimes } from './passing.ts';

const times: PassingTimes = { connect: 2000, firstByte: 2000, gap: 2000, total: () => 5000 };

function passTo(origin: string, request: Partial<PassedRequest> = {}, options: Partial<EgressOptions> = {}) {
  const development = { allowsHttp: true, allowsPrivateHosts: true, resolve: async () => ['127.0.0.1'] };
  const signal = new AbortController().signal;
  const whole = { origin, target: '/a/%2E?b', method: 'GET', headers: {}, times, signal, ...request };
  return createEgress({ ...development, ...options }).pass(whole);
}

async function startSocket(connected: (socket: Socket) => void) {
  const server = createServer((socket) => connected(socket.on('error', () => {})));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${Object(server.address()).port}`;
}

describe('a request that is passed on', () => {
  test('keeps its target to the letter, and streams its body', async () => {
    const receiver = await startReceiver();
    const body = Readable.from([Buffer.from('one'), Buffer.from('two')]);
    const request = { method: 'PUT', target: "/a/%2E%41'?b=%20c&d", body, headers: { 'x-a': 'b' } };

    const { answer } = await passTo(`http://api.test:${receiver.port}`, request);

    expect(answer?.statusCode).toBe(204);
    expect(receiver.received).toMatchObject([
      {
        path: "/a/%2E%41'?b=%20c&d",
        body: 'onetwo',
        headers: { host: `api.test:${receiver.port}`, 'x-a': 'b' },
      },
    ]);
  });

  test('S1, S3: goes to a checked address alone, and the name is looked up once', async () => {
    const receiver = await startReceiver();
    const origin = `http://api.test:${receiver.port}`;
    const private_ = { allowsPrivateHosts: false };
    for (const addresses of [
      ['127.0.0.1'],
      ['93.184.216.34', '10.0.0.1'],
      ['::ffff:127.0.0.1'],
      ['169.254.169.254'],
    ]) {
      const outcome = await passTo(origin, {}, { ...private_, resolve: async () => addresses });
      expect(outcome).toEqual({ failure: 'blocked_address', mayHaveSent: false });
    }
    const answers = [['127.0.0.1'], ['127.0.0.2']];
    const resolve = vi.fn(async () => answers.shift() ?? []);
    expect((await passTo(origin, {}, { resolve })).answer?.statusCode).toBe(204);
    expect(resolve).toHaveBeenCalledTimes(1);
    expect(receiver.received).toHaveLength(1);
  });

  test('S5: does not go over plain HTTP unless that is allowed', async () => {
    const receiver = await startReceiver();
    expect(await passTo(`http://api.test:${receiver.port}`, {}, { allowsHttp: false })).toEqual({
      failure: 'blocked_address',
      mayHaveSent: false,
    });
  });

  test.each([
    ['nobody vouches for', 'hooks.test', {}],
    ['is for another name', 'other.test', { ca: certificate.cert }],
  ])('is not sent to a certificate that %s', async (_, host, options) => {
    const receiver = await startReceiver({ tls: certificate });
    const outcome = await passTo(`https://${host}:${receiver.port}`, {}, options);
    expect(outcome).toEqual({ failure: 'tls_failed', mayHaveSent: false });
    const good = await passTo(`https://hooks.test:${receiver.port}`, {}, { ca: certificate.cert });
    expect([good.answer?.statusCode, receiver.received.length]).toEqual([204, 1]);
  });
});

describe('a request that fails', () => {
  test('says whether a byte of it may have left', async () => {
    const refusing = await startReceiver();
    refusing.server.close();
    await once(refusing.server, 'close');
    const closed = await passTo(`http://api.test:${refusing.port}`);
    expect(closed).toEqual({ failure: 'connection_failed', mayHaveSent: false });
    const silent = await passTo(await startSocket((socket) => void socket.end()));
    expect(silent).toEqual({ failure: 'connection_failed', mayHaveSent: true });
    const odd = await passTo(await startSocket((socket) => void socket.end('SSH-2.0-x\r\n')));
    expect(odd).toEqual({ failure: 'protocol', mayHaveSent: true });
    const unknown = await passTo('http://api.test', {}, { resolve: async () => [] });
    expect(unknown).toEqual({ failure: 'dns_failed', mayHaveSent: false });
  });

  test.each([
    ['the name', { connect: 50 }, { resolve: () => new Promise<string[]>(() => {}) }, false],
    ['the first byte', { firstByte: 50 }, {}, true],
    ['the whole', { total: () => 50 }, {}, true],
  ])('because %s takes too long', async (_, short, options, mayHaveSent) => {
    const origin = (await startSocket(() => {})).replace('127.0.0.1', 'api.test');
    const outcome = await passTo(origin, { times: { ...times, ...short } }, options);
    expect(outcome).toEqual({ failure: 'timeout', mayHaveSent });
  });

  test('in the middle of its answer, when that stands still or lasts too long', async () => {
    const begun = 'HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc';
    for (const short of [{ gap: 50 }, { total: () => 100 }]) {
      const origin = await startSocket((socket) => void socket.write(begun));
      const { answer } = await passTo(origin, { times: { ...times, ...short } });
      answer?.resume();
      const [error] = await once(answer ?? new Readable(), 'error');
      expect(error).toMatchObject({ name: 'PassingTimeout' });
    }
  });
});
