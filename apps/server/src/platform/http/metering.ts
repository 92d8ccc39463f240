import type { FastifyInstance, FastifyReply } from 'fastify';
import type { CountUse, Metered } from '../quotas.ts';
import { tenantOf } from './callers/credentials.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Every success of the route is counted for its developer, but for a repeated answer. */
    metered?: Metered;
    /** Says which answers are counted, where a 2xx says nothing about this service. */
    meteredIf?: (reply: FastifyReply) => boolean;
  }
}

/** Add it after idempotency, which commits before the answer is sent, and before the routes. */
export function addMetering(app: FastifyInstance, countUse: CountUse): void {
  app.addHook('onRoute', (route) => {
    const { metered: kind, meteredIf = isSuccess } = route.config ?? {};
    if (!kind) return;
    route.onSend = [
      ...[route.onSend ?? []].flat(),
      (request, reply, _payload, done) => {
        const isRepeated = reply.hasHeader('idempotency-replayed');
        if (meteredIf(reply) && !isRepeated) countUse(tenantOf(request), kind);
        done();
      },
    ];
  });
}

const isSuccess = ({ statusCode }: FastifyReply): boolean => statusCode >= 200 && statusCode < 300;
