import { once } from 'node:events';
import { Server } from 'node:net';
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
