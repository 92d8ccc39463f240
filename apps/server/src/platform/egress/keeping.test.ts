import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import certificate from '../../../test/app/certificate.json' with { type: 'json' };
import { startReceiver } from '../../../test/app/receiving.ts';
import { createEgress } from './egress.ts';
import type { PassedRequest } from './passing.ts';

const times = { connect: 20_000, firstByte: 20_000, gap: 20_000, total: () => 20_000 };
const read = { target: '/', method: 'GET', headers: {}, times, signal: new AbortController().signal };
const development = { allowsHttp: true, allowsPrivateHosts: true, ca: certificate.cert };
const WHOLE = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';

/** One client, for which every name leads to the addresses of the test. */
function clientTo(origin: string, found = { addresses: ['127.0.0.1'] }) {
  const egress = createEgress({ ...development, resolve: async () => found.addresses });
  return async ({ isFree = false, ...request }: Partial<PassedRequest> & { isFree?: boolean } = {}) => {
    const holder = isFree ? {} : { holder: 'a' };
    const { answer, ...failed } = await egress.pass({ ...read, origin, ...holder, ...request });
    if (!answer) return failed;
    answer.on('error', () => {}).resume();
    await new Promise((done) => answer.once('close', done));
    await setImmediate(); // the agent keeps a connection after its answer has ended
    return answer.statusCode;
  };
}

/** A server that writes what the test says. @returns the requests of each connection, in order */
async function startScripted(...scripts: ((socket: Socket, request: number) => void)[]) {
  const connections: number[] = [];
  const server = createServer((socket) => {
    const at = connections.push(0) - 1;
    socket.on('error', () => {});
    socket.on('data', () => {
      connections[at] = (connections[at] ?? 0) + 1;
      (scripts[at] ?? scripts.at(-1))?.(socket, connections[at]);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return { connections, origin: `http://api.test:${Object(server.address()).port}` };
}

async function startCounted(tls?: typeof certificate) {
  const receiver = await startReceiver(tls ? { tls } : {});
  receiver.answer((_request, response) => response.setHeader('content-length', 2).end('ok'));
  let connections = 0;
  receiver.server.on(tls ? 'secureConnection' : 'connection', () => (connections += 1));
  const host = tls ? 'https://hooks.test' : 'http://api.test';
  return { receiver, origin: `${host}:${receiver.port}`, count: () => connections };
}

describe('a connection', () => {
  test.each([
    ['without TLS', undefined],
    ['with TLS', certificate],
  ])(
    'S3, V19: %s is taken over by a read of its holder to the same checked addresses, and by nothing else',
    async (_, tls) => {
      const { origin, count } = await startCounted(tls);
      const found = { addresses: ['127.0.0.1', '127.0.0.2'] };
      const send = clientTo(origin, found);
      const counts: [string, number][] = [];
      const take = async (name: string, request: Parameters<typeof send>[0] = {}) => {
        expect(await send(request)).toBe(200);
        counts.push([name, count()]);
      };

      await take('a read');
      await take('the next read');
      await take('a HEAD', { method: 'HEAD' });
      await take('a read after HEAD');
      await take('a read of another holder', { holder: 'b' });
      await take('a read of nobody', { isFree: true });
      await take('a write', { method: 'POST' });
      await take('a read with a body', { headers: { 'content-length': '1' }, body: Buffer.from('a') });
      found.addresses = ['127.0.0.2', '127.0.0.1'];
      await take('a read after the addresses came in another order');
      found.addresses = ['127.0.0.1'];
      await take('a read after the name led elsewhere');

      expect(counts).toEqual([
        ['a read', 1],
        ['the next read', 1],
        ['a HEAD', 1],
        ['a read after HEAD', 2],
        ['a read of another holder', 3],
        ['a read of nobody', 4],
        ['a write', 5],
        ['a read with a body', 6],
        ['a read after the addresses came in another order', 6],
        ['a read after the name led elsewhere', 7],
      ]);
    },
  );

  test('S3: is not taken over once the name leads to an address that may not be called', async () => {
    const { origin, count } = await startCounted();
    const found = { addresses: ['127.0.0.1'] };
    const rules = { ...development, allowsPrivateHosts: false, resolve: async () => found.addresses };
    const open = clientTo(origin, found);

    expect([await open(), await open()]).toEqual([200, 200]);
    const refused = await createEgress(rules).pass({ ...read, origin, holder: 'a' });

    expect([refused, count()]).toEqual([{ failure: 'blocked_address', mayHaveSent: false }, 1]);
  });

  test.each([
    ['says that it closes', 'HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\nok', 200],
    ['is of HTTP/1.0', 'HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\nok', 200],
    ['goes on after its length', `${WHOLE}more`, 200],
    ['is two answers', WHOLE.repeat(2), 200],
    ['has no body by its status', 'HTTP/1.1 204 No Content\r\n\r\n', 204],
    [
      'has no body by its status, and a length',
      'HTTP/1.1 304 Not Modified\r\ncontent-length: 2\r\n\r\n',
      304,
    ],
    [
      'has a length and chunks',
      'HTTP/1.1 200 OK\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
      'protocol',
    ],
    ['has two lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\nok', 'protocol'],
    ['has an odd chunk', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nx\r\n', 200],
  ])('V19: ends with an answer that %s', async (_, text, expected) => {
    const { connections, origin } = await startScripted(
      (socket) => void socket.write(text),
      (socket) => void socket.write(WHOLE),
    );
    const send = clientTo(origin);

    const first = await send();
    const more = [await send(), await send()];

    expect(typeof first === 'object' ? first.failure : first).toBe(expected);
    expect([more, connections]).toEqual([
      [200, 200],
      [1, 2],
    ]);
  });

  test('V19: ends when bytes arrive that nobody asked for', async () => {
    const { connections, origin } = await startScripted(
      (socket) => {
        socket.write(WHOLE);
        socket.once('drain', () => {});
        void setTimeout(20).then(() => socket.write(WHOLE));
      },
      (socket) => void socket.write(WHOLE.replace('200', '201')),
    );
    const send = clientTo(origin);

    expect(await send()).toBe(200);
    await setTimeout(60);

    expect([await send(), connections]).toEqual([201, [1, 1]]);
  });

  test('V19: of a write ends with an answer that comes before the body was sent, and serves nothing else', async () => {
    const { connections, origin } = await startScripted((socket) => void socket.write(WHOLE));
    const send = clientTo(origin);
    const headers = { 'content-length': '1000000' };

    const early = await send({ method: 'POST', headers, body: Buffer.alloc(1_000_000) });
    const next = await send();

    expect([early, next, connections.length]).toEqual([200, 200, 2]);
  });
});

describe('a connection that the other side closed', () => {
  const dying = (socket: Socket, request: number) =>
    void (request === 1 ? socket.write(WHOLE) : socket.destroy());

  test('is replaced once', async () => {
    const { connections, origin } = await startScripted(
      dying,
      dying,
      dying,
      (socket) => void socket.destroy(),
    );
    const send = clientTo(origin);

    expect([await send(), await send(), connections]).toEqual([200, 200, [2, 1]]);
    expect(await send()).toBe(200);
    const failed = await send();

    expect([failed, connections]).toEqual([
      { failure: 'connection_failed', mayHaveSent: true },
      [2, 1, 2, 1],
    ]);
  });

  test('is not replaced after a byte of an answer', async () => {
    const { connections, origin } = await startScripted((socket, request) => {
      if (request === 1) return void socket.write(WHOLE);
      socket.write('HTTP/1.1 2', () => socket.destroy());
      return undefined;
    });
    const send = clientTo(origin);

    expect([await send(), await send(), connections]).toEqual([
      200,
      { failure: 'connection_failed', mayHaveSent: true },
      [2],
    ]);
  });
});

describe('a request that is given up', () => {
  test('after its answer leaves the connection to the next', async () => {
    const { origin, count } = await startCounted();
    const send = clientTo(origin);
    const before = new AbortController();

    expect(await send({ signal: before.signal })).toBe(200);
    before.abort();
    await setImmediate();

    expect([await send(), count()]).toEqual([200, 1]);
    expect(await send({ signal: AbortSignal.abort() })).toMatchObject({ failure: expect.any(String) });
    expect([await send(), count()]).toEqual([200, 1]);
  });

  test.each([
    ['without TLS', undefined],
    ['with TLS', certificate],
  ])(
    'V19: at any moment %s ends, throws nothing, and leaves no answer to another request',
    async (_, tls) => {
      const { receiver, origin } = await startCounted(tls);
      receiver.answer(({ url = '' }, response) => {
        const text = url.repeat(200);
        response.setHeader('content-length', text.length).write(text.slice(0, 10));
        globalThis.setTimeout(() => response.end(text.slice(10)), 1);
      });
      const egress = createEgress({ ...development, resolve: async () => ['127.0.0.1'] });
      const uncaught = vi.fn();
      process.on('uncaughtExceptionMonitor', uncaught);
      onTestFinished(() => void process.off('uncaughtExceptionMonitor', uncaught));

      const ends = await Promise.all(
        Array.from({ length: 120 }, async (_none, at) => {
          const target = `/${String(at).padStart(4, '0')}`;
          const leaving = new AbortController();
          await setTimeout(at / 4);
          if (at % 2) globalThis.setTimeout(() => leaving.abort(), at / 20);
          const { answer, failure } = await egress.pass({
            ...read,
            origin,
            target,
            holder: 'a',
            signal: leaving.signal,
          });
          if (!answer) return leaving.signal.aborted ? 'given up' : failure;
          let text = '';
          answer.setEncoding('latin1').on('data', (part) => (text += part));
          await new Promise((done) => answer.on('error', done).on('close', done));
          if (!target.repeat(200).startsWith(text)) return 'of another request';
          if (answer.complete) return 'whole';
          return leaving.signal.aborted ? 'given up' : 'cut';
        }),
      );

      expect(new Set(ends)).toEqual(new Set(['whole', 'given up']));
      expect(uncaught).not.toHaveBeenCalled();
    },
  );
});
