import type { FastifyInstance } from 'fastify';

/**
 * Only one expectation means anything, `100-continue`, which Node meets. Of any other Node would answer 417 by
 * itself, with none of the headers that every answer has; such a request is answered as if it had none.
 * @see RFC 9110, section 10.1.1, which leaves this to the server
 */
export function ignoreExpectations({ server }: FastifyInstance): void {
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
}
