import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Alive, Health } from './operations.schema.ts';
import { checkHealth, type OperationsDeps } from './operations.ts';

export const operationsRoutes: FastifyPluginAsyncTypebox<OperationsDeps> = async (app, deps) => {
  app.get(
    '/health',
    {
      config: { access: 'none', rate: 'default', failures: [] },
      schema: {
        operationId: 'operations.health',
        summary: 'Read whether the service, its database and Redis work',
        response: { 200: Health, 503: Health },
      },
    },
    async (_request, reply) => {
      const health = await checkHealth(deps);
      return reply.code(health.status === 'ok' ? 200 : 503).send(health);
    },
  );

  app.get(
    '/livez',
    {
      config: { access: 'none', rate: 'default', failures: [] },
      schema: {
        operationId: 'operations.alive',
        summary: 'Read whether the process runs, without a look at its database or Redis',
        response: { 200: Alive },
      },
    },
    async () => ({ status: 'ok' as const }),
  );
};
