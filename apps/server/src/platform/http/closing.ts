import type { FastifyInstance } from 'fastify';

/**
 * While the process is on its way out, an answer is the last on its connection: a client that keeps connections
 * alive would otherwise keep the process alive too, for as long as it cares to.
 */
export function addClosing(app: FastifyInstance, isStopping: () => boolean): void {
  app.addHook('onSend', async (_request, reply) => {
    if (isStopping()) reply.header('connection', 'close');
  });
}
