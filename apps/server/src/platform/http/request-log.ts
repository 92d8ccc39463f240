import type { FastifyInstance } from 'fastify';

/**
 * One line a request. The route's pattern stands for its path, since paths hold ids, and some hold secrets.
 * @see specification, Runtime configuration and operation, for the names
 */
export function addRequestLog(app: FastifyInstance): void {
  app.addHook('onResponse', async (request, reply) => {
    const { method, routeOptions } = request;
    const route = request.is404 ? 'unknown' : (routeOptions.url ?? 'unknown');
    const responseTime = Math.round(reply.elapsedTime * 1000) / 1000; // milliseconds
    request.log.info({ method, route, status: reply.statusCode, responseTime }, 'request');
  });
}
