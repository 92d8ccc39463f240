import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { PassThrough, Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import Fastify, { type FastifyReply } from 'fastify';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { cutSlowReaders } from './connections.ts';
import { bodyOf, type Portions } from './send.ts';

/** More than the buffers of the kernel hold for a connection of this machine. */
const LARGE = Buffer.alloc(32 * 1_048_576);

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  return () => void vi.useRealTimers();
});

async function startAnswering() {
  const app = Fastify();
  onTestFinished(() => app.close());
  const stream = new Readable({ read: () => {} });
  app.get('/large', async () => LARGE);
  app.get('/small', async () => 'small');
  app.get('/stream', async (_request, reply) => reply.send(stream));
  cutSlowReaders(app);
  await app.listen({ port: 0, host: '127.0.0.1' });
  app.server.closeIdleConnections();

  const ask = async (path: string) => {
    const socket = connect(Number(new URL(app.listeningOrigin).port), '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    socket.on('error', () => {}); // a cut connection is reset
    const accepted = once(app.server, 'connection') as Promise<[Socket]>;
    socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
    const [served] = await accepted;
    return { socket, served };
  };
  return { ask, stream };
}

/** Bytes that the kernel has not accepted. */
const waitingFor = (served: Socket) => served.writableLength;

const isFull = (served: Socket) => vi.waitUntil(() => waitingFor(served) > 0, { interval: 5 });

describe('P8: an answer that its client does not read', () => {
  test('is cut after 30 s, and one that is read is not', async () => {
    const { ask } = await startAnswering();
    const unread = await ask('/large');
    const idle = await ask('/small');
    await isFull(unread.served);

    vi.advanceTimersByTime(30_000);
    expect(unread.served.destroyed).toBe(false);
    vi.advanceTimersByTime(5_000);

    expect(unread.served.destroyed).toBe(true);
    expect(idle.served.destroyed).toBe(false);
  });

  test('is not cut while the client takes some of it now and then', async () => {
    const { ask } = await startAnswering();
    const { socket, served } = await ask('/large');
    await isFull(served);
    let taken = 0;
    socket.on('data', (bytes) => {
      taken += bytes.length;
      if (taken > 4 * 1_048_576) socket.pause();
    });

    for (let time = 0; time < 4; time += 1) {
      taken = 0;
      socket.resume();
      await once(socket, 'pause');
      vi.advanceTimersByTime(25_000);
    }

    expect(served.destroyed).toBe(false);
    vi.advanceTimersByTime(15_000);
    expect(served.destroyed).toBe(true);
  });

  test('is cut when it is a stream that goes on, or when the client goes on sending', async () => {
    const { ask, stream } = await startAnswering();
    const live = await ask('/stream');
    const sending = await ask('/large');
    stream.push(LARGE);
    await Promise.all([isFull(live.served), isFull(sending.served)]);

    for (let time = 0; time < 7; time += 1) {
      stream.push('more');
      sending.socket.write('GET /small HTTP/1.1\r\nHost: x\r\n\r\n');
      await new Promise(setImmediate);
      vi.advanceTimersByTime(5_000);
    }

    expect([live.served.destroyed, sending.served.destroyed]).toEqual([true, true]);
  });
});

describe('an answer that is made while it is sent', () => {
  const PORTION = 100_000; // more than a stream holds

  async function* endless() {
    for (;;) yield Buffer.alloc(PORTION);
  }

  function startSending(portions: Partial<Portions> = {}) {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    const place: string[] = [];
    const heavyRead = { give: () => place.push('give'), take: async () => place.push('take') };
    const reply = { raw: new PassThrough(), request: { heavyRead } } as unknown as FastifyReply; // all that it reads
    const body = bodyOf({ texts: endless(), ...portions }, reply);
    onTestFinished(() => void body.destroy());
    /** Reads a portion after some time. @returns whether it was still there */
    const takeAfter = async (milliseconds: number) => {
      for (let turn = 0; turn < 20 && body.readableLength < PORTION; turn += 1) {
        body.read(0);
        await nextTurn();
      }
      vi.advanceTimersByTime(milliseconds);
      if (body.destroyed) return false;
      body.read();
      return true;
    };
    return { body, place, takeAfter };
  }

  test('is cut when its client is too slow with all of it, however little it leaves waiting at a time', async () => {
    const { body, takeAfter } = startSending();

    expect([await takeAfter(50_000), await takeAfter(50_000)]).toEqual([true, false]);
    expect(body.destroyed).toBe(true);
  });

  test('goes on for as long as its client takes two megabits a second, and may stop for a minute', async () => {
    const { takeAfter } = startSending();

    for (let taken = 0; taken < 4_000; taken += 1) expect(await takeAfter(390)).toBe(true);
    expect(await takeAfter(59_000)).toBe(true);
    expect(await takeAfter(61_000)).toBe(false);
  });

  test('leaves its place to others while its client takes a portion, unless it holds something', async () => {
    const receipt = startSending();
    await receipt.takeAfter(0);
    await receipt.takeAfter(0);
    const held = startSending({ close: async () => {} });
    await held.takeAfter(0);
    await held.takeAfter(0);

    expect(receipt.place.slice(0, 3)).toEqual(['give', 'take', 'give']);
    expect(held.place).toEqual([]);
  });
});
