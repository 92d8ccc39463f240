import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Meter } from '../../telemetry/meter.ts';

type Answered = (request: FastifyRequest, reply: FastifyReply) => void;

/**
 * Reports each answer when it is over. A live stream counts as answered when its answer begins: its end says
 * nothing about the service, and Fastify does not report an end that the client causes.
 */
function onAnswered(app: FastifyInstance, listener: Answered): void {
  app.addHook('onSend', async (request, reply) => {
    if (request.routeOptions.config.isLive) listener(request, reply);
  });
  app.addHook('onResponse', async (request, reply) => {
    if (!request.routeOptions.config.isLive) listener(request, reply);
  });
}

/**
 * One line per request. The route's pattern stands for its path, because paths hold ids, and some hold
 * secrets.
 * @see specification, Runtime configuration and operation, for the names
 */
export function addRequestLog(app: FastifyInstance): void {
  onAnswered(app, (request, reply) => {
    const { method } = request;
    const route = routeOf(request);
    const responseTime = Math.round(reply.elapsedTime * 1000) / 1000; // milliseconds
    request.log.info({ method, route, status: reply.statusCode, responseTime }, 'request');
  });
}

/**
 * Counts and times every request by its route's pattern, because a label that holds ids would grow for ever.
 */
export function addRequestMetrics(app: FastifyInstance, meter: Meter): void {
  onAnswered(app, (request, reply) => {
    const { statusCode: status, elapsedTime } = reply; // milliseconds
    const { method } = request;
    meter.requestAnswered({ method, route: routeOf(request), status, seconds: elapsedTime / 1000 });
  });
}

export const routeOf = ({ is404, routeOptions }: FastifyRequest): string =>
  is404 ? 'unknown' : (routeOptions.url ?? 'unknown');
