import { once } from 'node:events';
import { Server, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';

/** Milliseconds in which a request may still arrive whose client could not know of the stop. */
const LAST_REQUESTS = 500;

/**
 * While the process stops, each answer is the last on its connection. Otherwise a client that keeps
 * connections alive would keep the process alive too.
 */
export function addClosing(app: FastifyInstance, isStopping: () => boolean): void {
  app.addHook('onSend', (_request, reply, _payload, done) => {
    if (isStopping()) reply.header('connection', 'close');
    done();
  });
  app.addHook('preClose', async () => {
    if (app.server.listening) await drain(app.server);
  });
}

/**
 * Accepts no more connections, and leaves the open ones a moment. A closed HTTP server at once ends
 * connections that seem idle, and with them the requests that are on their way in.
 */
async function drain(server: Server): Promise<void> {
  const closed = once(server, 'close');
  Server.prototype.close.call(server);
  await Promise.race([closed, delay(LAST_REQUESTS)]);
}

// In milliseconds.
const LONGEST_PAUSE = 30_000; // without any progress
const SWEEP_EVERY = 5_000;

/** How far a client has taken what waits for it. */
interface Progress {
  /** Bytes of the write under way that the kernel has no room for. It makes room when the client takes some. */
  queued: number;
  /** Bytes of all writes that have not ended, counted whole. */
  unfinished: number;
  sweepsWithout: number;
}

/**
 * Ends connections whose client takes none of the bytes that wait for it: they would stay in memory for as long as the
 * client likes. Streams and WebSockets are connections like others. One timer looks at all of them.
 */
export function cutSlowReaders(app: FastifyInstance): void {
  const open = new Map<Socket, Progress>();
  app.server.on('connection', (socket: Socket) => {
    open.set(socket, { queued: 0, unfinished: 0, sweepsWithout: 0 });
    socket.once('close', () => open.delete(socket));
  });

  const sweep = () => {
    for (const [socket, before] of open) {
      const queued = queuedOf(socket);
      const unfinished = socket.writableLength;
      // A stream may add bytes meanwhile, which is no progress of its client.
      const isStuck = queued > 0 && queued === before.queued && unfinished >= before.unfinished;
      const sweepsWithout = isStuck ? before.sweepsWithout + 1 : 0;
      Object.assign(before, { queued, unfinished, sweepsWithout });
      // A reset, so that the kernel keeps nothing for the client either.
      if (sweepsWithout * SWEEP_EVERY >= LONGEST_PAUSE) socket.resetAndDestroy();
    }
  };

  let timer: NodeJS.Timeout | undefined;
  app.addHook('onListen', async () => {
    timer = setInterval(sweep, SWEEP_EVERY).unref();
  });
  app.addHook('onClose', async () => clearInterval(timer));
}

/**
 * Node's own time-out reads this number too, but begins again when the client sends. No public member tells a write of
 * which a part was taken from one of which nothing was.
 */
const queuedOf = (
  socket: Socket & { readonly _handle?: { readonly writeQueueSize?: number } | null },
): number => socket._handle?.writeQueueSize ?? 0;
