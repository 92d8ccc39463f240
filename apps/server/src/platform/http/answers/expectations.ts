import type { FastifyInstance } from 'fastify';

/**
 * Only one expectation means anything: `100-continue`, which Node meets. For any other, Node would answer 417
 * by itself, without the headers of every answer. The service answers such a request as if it had no
 * expectation.
 * @see RFC 9110, section 10.1.1, which leaves this to the server
 */
export function ignoreExpectations({ server }: FastifyInstance): void {
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
}
