import type { FastifyInstance } from 'fastify';
import type { CountUse, Metered } from '../metering.ts';
import { callerOf } from './callers/credentials.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Every success of the route is counted for its developer, but for a repeated answer. */
    metered?: Metered;
  }
}

/** Add it after idempotency, which commits before the answer is sent, and before the routes. */
export function addMetering(app: FastifyInstance, countUse: CountUse): void {
  app.addHook('onRoute', (route) => {
    const kind = route.config?.metered;
    if (!kind) return;
    route.onSend = [
      ...[route.onSend ?? []].flat(),
      (request, reply, _payload, done) => {
        const isSuccess = reply.statusCode >= 200 && reply.statusCode < 300;
        const isRepeated = reply.hasHeader('idempotency-replayed');
        if (isSuccess && !isRepeated) countUse(callerOf(request).tenant, kind);
        done();
      },
    ];
  });
}
