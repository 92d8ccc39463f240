import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Meter } from '../../telemetry/meter.ts';

/**
 * Logs, counts and times each answer when it is over, by its route's pattern: paths hold ids, some hold secrets, and a
 * label that holds ids would grow for ever. A live stream counts as answered when its answer begins: its end says
 * nothing about the service, and Fastify does not report an end that the client causes.
 * @param hasLog whether each answer has a line in the log
 * @see docs/operations.md, Logs, for the names
 */
export function addRequestReport(app: FastifyInstance, meter: Meter, hasLog: boolean): void {
  const report = (request: FastifyRequest, { statusCode: status, elapsedTime }: FastifyReply) => {
    const { method, pattern: route } = request;
    if (hasLog) {
      const responseTime = Math.round(elapsedTime * 1000) / 1000; // milliseconds
      request.log.info({ method, route, status, responseTime }, 'request');
    }
    meter.requestAnswered({ method, route, status, seconds: elapsedTime / 1000 });
  };
  app.addHook('onSend', (request, reply, _payload, done) => {
    if (request.declared.isLive) report(request, reply);
    done();
  });
  app.addHook('onResponse', (request, reply, done) => {
    if (!request.declared.isLive) report(request, reply);
    done();
  });
}
