import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Meter } from '../../telemetry/meter.ts';

type Answered = (request: FastifyRequest, reply: FastifyReply) => void;

/**
 * Tells of each answer when it is over. What stays open is answered when its answer begins: its end says nothing of how
 * the service does, and Fastify does not tell of one that the client brings about.
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
 * One line a request. The route's pattern stands for its path, since paths hold ids, and some hold secrets.
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

/** Counts and times every request, under its route's pattern too: a label that holds ids would grow without end. */
export function addRequestMetrics(app: FastifyInstance, meter: Meter): void {
  onAnswered(app, (request, reply) => {
    const { statusCode: status, elapsedTime } = reply; // milliseconds
    const { method } = request;
    meter.requestAnswered({ method, route: routeOf(request), status, seconds: elapsedTime / 1000 });
  });
}

export const routeOf = ({ is404, routeOptions }: FastifyRequest): string =>
  is404 ? 'unknown' : (routeOptions.url ?? 'unknown');
