import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Meter } from '../telemetry/meter.ts';

/**
 * One line a request. The route's pattern stands for its path, since paths hold ids, and some hold secrets.
 * @see specification, Runtime configuration and operation, for the names
 */
export function addRequestLog(app: FastifyInstance): void {
  app.addHook('onResponse', async (request, reply) => {
    const { method } = request;
    const route = routeOf(request);
    const responseTime = Math.round(reply.elapsedTime * 1000) / 1000; // milliseconds
    request.log.info({ method, route, status: reply.statusCode, responseTime }, 'request');
  });
}

/**
 * Counts and times every request, under its route's pattern too: a label that holds ids would grow without end. What
 * stays open is timed to where its answer begins, since its end says nothing of how the service does.
 */
export function addRequestMetrics(app: FastifyInstance, meter: Meter): void {
  const answered = (request: FastifyRequest, reply: FastifyReply) => {
    const { statusCode: status, elapsedTime } = reply; // milliseconds
    const { method } = request;
    meter.requestAnswered({ method, route: routeOf(request), status, seconds: elapsedTime / 1000 });
  };
  app.addHook('onSend', async (request, reply) => {
    if (request.routeOptions.config.isLive) answered(request, reply);
  });
  app.addHook('onResponse', async (request, reply) => {
    if (!request.routeOptions.config.isLive) answered(request, reply);
  });
}

export const routeOf = ({ is404, routeOptions }: FastifyRequest): string =>
  is404 ? 'unknown' : (routeOptions.url ?? 'unknown');
