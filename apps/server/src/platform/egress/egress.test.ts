import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import certificate from '../../../test/app/certificate.json' with { type: 'json' };
import { startReceiver } from '../../../test/app/receiving.ts';
import { resolver } from './dns.ts';
import { createEgress, type EgressOptions } from './egress.ts';

/** The settings of development, with a name server of the test. */
const development = {
  allowsHttp: true,
  allowsPrivateHosts: true,
  resolve: async () => ['127.0.0.1'],
} as const;

/** @param options in addition to those of development */
function sendTo(url: string, options: Partial<EgressOptions> = {}) {
  const egress = createEgress({ ...development, ...options });
  return egress.send({
    url,
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"a":"é"}',
  });
}

/** A server that lets `connected` answer each connection. */
async function startSocket(connected: (socket: Socket) => void) {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.resume(); // otherwise an end of the other side stays unseen
    socket.on('error', () => {}).on('close', () => sockets.delete(socket));
    connected(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `http://127.0.0.1:${Object(server.address()).port}/`;
}

const OK = 'HTTP/1.1 200 OK\r\n';

test.each([
  [65_536, { status: 200, body: Buffer.alloc(65_536, 'a') }],
  [65_537, { failure: 'too_large' }],
])('an answer of %i bytes is read unless it is too large', async (length, answer) => {
  const receiver = await startReceiver();
  receiver.answer((_, response) => void response.end('a'.repeat(length)));
  const egress = createEgress(development);

  const read = await egress.ask({ url: receiver.url, method: 'GET', headers: {}, body: '' });

  expect(read).toMatchObject(answer);
});

describe('a call', () => {
  test('sends the very bytes, to the path and query, with the host of the URL', async () => {
    const receiver = await startReceiver();

    const outcome = await sendTo(`http://hooks.acme.test:${receiver.port}/a/b?c=d`);

    expect(outcome).toEqual({ status: 204 });
    expect(receiver.received).toEqual([
      {
        path: '/a/b?c=d',
        headers: {
          host: `hooks.acme.test:${receiver.port}`,
          'content-type': 'application/json',
          'content-length': '10',
          connection: 'close',
        },
        body: '{"a":"é"}',
      },
    ]);
  });

  test.each([200, 201, 299, 301, 307, 400, 404, 410, 429, 500, 503])('reports status %i', async (status) => {
    const receiver = await startReceiver();
    receiver.answerStatus(status);

    expect(await sendTo(receiver.url)).toEqual({ status });
  });

  test('takes no proxy of the environment', async () => {
    const receiver = await startReceiver();
    for (const name of ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'ALL_PROXY']) {
      vi.stubEnv(name, 'http://127.0.0.1:1');
    }
    onTestFinished(() => void vi.unstubAllEnvs());

    expect(await sendTo(receiver.url)).toEqual({ status: 204 });
  });

  test('uses no connection twice', async () => {
    const receiver = await startReceiver();
    const ports = new Set<number | undefined>();
    receiver.server.on('connection', (socket: Socket) => ports.add(socket.remotePort));

    await sendTo(receiver.url);
    await sendTo(receiver.url);

    expect(ports.size).toBe(2);
  });

  test('takes another address of the name when the first does not answer', async () => {
    const receiver = await startReceiver();

    const outcome = await sendTo(`http://hooks.acme.test:${receiver.port}/`, {
      resolve: async () => ['::1', '127.0.0.1'],
    });

    expect(outcome).toEqual({ status: 204 });
  });
});

describe('a call that fails', () => {
  test('because nobody listens', async () => {
    const receiver = await startReceiver();
    receiver.server.close();
    await once(receiver.server, 'close');

    expect(await sendTo(receiver.url)).toEqual({ failure: 'connection_failed' });
  });

  test('because the connection is reset', async () => {
    const url = await startSocket((socket) => void socket.on('data', () => socket.resetAndDestroy()));

    expect(await sendTo(url)).toEqual({ failure: 'connection_failed' });
  });

  test('because the connection ends without an answer', async () => {
    const url = await startSocket((socket) => void socket.on('data', () => socket.end()));

    expect(await sendTo(url)).toEqual({ failure: 'connection_failed' });
  });

  test('because the server does not speak HTTP', async () => {
    const url = await startSocket((socket) => void socket.end('SSH-2.0-OpenSSH_9.9\r\n'));

    expect(await sendTo(url)).toEqual({ failure: 'connection_failed' });
  });

  test('because the server does not answer in time', async () => {
    const url = await startSocket(() => {});

    expect(await sendTo(url, { timeoutMilliseconds: 100 })).toEqual({ failure: 'timeout' });
  });

  test('because the name server does not answer in time', async () => {
    const outcome = await sendTo('http://hooks.acme.test/', {
      resolve: () => new Promise(() => {}),
      timeoutMilliseconds: 100,
    });

    expect(outcome).toEqual({ failure: 'timeout' });
  });

  test('because the name has no address', async () => {
    const resolve = () => Promise.reject(new Error('ENOTFOUND hooks.acme.test'));

    for (const none of [resolve, async () => []]) {
      expect(await sendTo('http://hooks.acme.test/', { resolve: none })).toEqual({ failure: 'dns_failed' });
    }
  });
});

describe('TLS', () => {
  const { key, cert } = certificate;
  const ca = cert;

  test('is for the name of the URL, with a trusted certificate', async () => {
    const receiver = await startReceiver({ tls: { key, cert } });

    expect(await sendTo(`https://hooks.test:${receiver.port}/`, { ca })).toEqual({ status: 204 });
  });

  test.each([
    ['nobody vouches for', 'hooks.test', undefined],
    ['is for another name', 'hooks.acme.test', ca],
    ['does not name the address', '127.0.0.1', ca],
  ])('fails with a certificate that %s, and nothing is sent', async (_, host, trusted) => {
    const receiver = await startReceiver({ tls: { key, cert } });
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0'); // some images set this, and it has no effect here
    onTestFinished(() => void vi.unstubAllEnvs());

    const outcome = await sendTo(`https://${host}:${receiver.port}/`, trusted ? { ca: trusted } : {});

    expect(outcome).toEqual({ failure: 'tls_failed' });
    expect(receiver.received).toEqual([]);
  });

  test('fails where the other side does not speak it', async () => {
    const receiver = await startReceiver();

    expect(await sendTo(`https://127.0.0.1:${receiver.port}/`)).toEqual({ failure: 'tls_failed' });
  });
});

describe('S1, S3: the addresses of a name', () => {
  const strict = { allowsPrivateHosts: false };

  test.each([
    ['loopback', ['127.0.0.1']],
    ['a private network', ['10.0.0.7']],
    ['the metadata of a cloud', ['169.254.169.254']],
    ['loopback, in IPv6', ['::1']],
    ['loopback, mapped into IPv6', ['::ffff:127.0.0.1']],
    ['the internet, and loopback too', ['93.184.216.34', '127.0.0.1']],
    ['a private network, and the internet too', ['10.0.0.7', '2606:2800:220:1:248:1893:25c8:1946']],
  ])('are checked before any call: %s', async (_, addresses) => {
    const receiver = await startReceiver();
    const resolve = async () => addresses;

    const outcome = await sendTo(`http://hooks.acme.test:${receiver.port}/`, { ...strict, resolve });

    expect(outcome).toEqual({ failure: 'blocked_address' });
    expect(receiver.received).toEqual([]);
  });

  test('are looked up once, so a name that changes a moment later is called as it was checked', async () => {
    const receiver = await startReceiver();
    const answers = [['127.0.0.1'], ['127.0.0.2']];
    const resolve = vi.fn(async () => answers.shift() ?? []);

    const outcome = await sendTo(`http://hooks.acme.test:${receiver.port}/`, { resolve });

    expect(outcome).toEqual({ status: 204 });
    expect(resolve).toHaveBeenCalledTimes(1);
  });

  test('are not called for a URL that is no longer allowed', async () => {
    const receiver = await startReceiver();

    expect(await sendTo(receiver.url, strict)).toEqual({ failure: 'blocked_address' });
    expect(await sendTo(receiver.url, { allowsHttp: false })).toEqual({ failure: 'blocked_address' });
    expect(receiver.received).toEqual([]);
    expect(await sendTo(receiver.url)).toEqual({ status: 204 });
  });

  test('are those of this machine for `localhost`, whatever name servers say', async () => {
    expect(await resolver()('hooks.localhost')).toEqual(['127.0.0.1', '::1']);
  });
});

describe('S4: a redirect', () => {
  test.each([301, 302, 303, 307, 308])('with status %i is not followed', async (status) => {
    const [receiver, inside] = [await startReceiver(), await startReceiver()];
    receiver.answerStatus(status, { location: inside.url });

    expect(await sendTo(receiver.url)).toEqual({ status });
    expect(inside.received).toEqual([]);
    expect(receiver.received).toHaveLength(1);
  });
});

describe('S6: an answer', () => {
  test('is not read to its end when it has none', async () => {
    let sent = 0;
    const url = await startSocket((socket) => {
      socket.write(`${OK}transfer-encoding: chunked\r\n\r\n`);
      const more = () => {
        while (!socket.destroyed && socket.write(`4000\r\n${'a'.repeat(0x4000)}\r\n`)) sent += 0x4000;
        sent += 0x4000;
      };
      socket.on('drain', more);
      more();
    });

    expect(await sendTo(url)).toEqual({ status: 200 });
    expect(sent).toBeLessThan(64 * 1024 * 1024); // the buffers of both sockets, and no gigabytes
  });

  test.each([
    ['the headers', 'X-Slow: '],
    ['the bytes of its body', 'content-length: 1000000\r\n\r\n'],
  ])('ends in time when %s come byte by byte', async (_, begun) => {
    const url = await startSocket((socket) => {
      socket.write(OK + begun);
      const slowly = setInterval(() => socket.write('a'), 10);
      socket.on('close', () => clearInterval(slowly));
    });
    const startedAt = performance.now();

    const outcome = await sendTo(url, { timeoutMilliseconds: 200 });

    expect(outcome).toEqual(begun.endsWith('\n') ? { status: 200 } : { failure: 'timeout' });
    expect(performance.now() - startedAt).toBeLessThan(5000);
  });

  test('counts as a failed connection when its headers never end', async () => {
    const url = await startSocket((socket) => {
      socket.write(OK);
      const more = () => {
        while (!socket.destroyed && socket.write(`X-${'a'.repeat(1000)}: b\r\n`));
      };
      socket.on('drain', more);
      more();
    });

    expect(await sendTo(url)).toEqual({ failure: 'connection_failed' });
  });

  test('counts as a timeout when interim statuses never end', async () => {
    const url = await startSocket((socket) => {
      const more = setInterval(() => socket.write('HTTP/1.1 103 Early Hints\r\n\r\n'), 5);
      socket.on('close', () => clearInterval(more));
    });

    expect(await sendTo(url, { timeoutMilliseconds: 200 })).toEqual({ failure: 'timeout' });
  });

  test('is its status when it switches to another protocol, and the connection ends', async () => {
    let isClosed = false;
    const url = await startSocket((socket) => {
      socket.on('close', () => {
        isClosed = true;
      });
      socket.write('HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n');
    });

    expect(await sendTo(url)).toEqual({ status: 101 });
    await vi.waitFor(() => expect(isClosed).toBe(true), { timeout: 20_000 });
  });
});
