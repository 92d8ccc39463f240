import { once } from 'node:events';
import { Server } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';

/** Milliseconds in which a request may still come that was sent before its client could know. */
const LAST_REQUESTS = 500;

/**
 * While the process is on its way out, an answer is the last on its connection: a client that keeps connections
 * alive would otherwise keep the process alive too, for as long as it cares to.
 */
export function addClosing(app: FastifyInstance, isStopping: () => boolean): void {
  app.addHook('onSend', async (_request, reply) => {
    if (isStopping()) reply.header('connection', 'close');
  });
  app.addHook('preClose', async () => {
    if (app.server.listening) await drain(app.server);
  });
}

/**
 * Accepts no connection any more, and leaves the open ones a moment. An HTTP server that is closed ends those that
 * seem idle at once, and with them the requests that are on their way in.
 */
async function drain(server: Server): Promise<void> {
  const closed = once(server, 'close');
  Server.prototype.close.call(server);
  await Promise.race([closed, delay(LAST_REQUESTS)]);
}
