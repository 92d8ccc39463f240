import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { AppError } from '../../../platform/errors.ts';
import { bearerOf } from '../../../platform/http/callers/credentials.ts';
import { type MetricsDeps, mayScrape } from './metrics.ts';

export const metricsRoutes: FastifyPluginAsyncTypebox<MetricsDeps> = async (app, deps) => {
  app.get(
    '/metrics',
    {
      config: { access: 'none', rate: 'default', failures: ['UNAUTHORIZED'] },
      schema: {
        operationId: 'operations.metrics',
        summary: 'Metrics of this process, in the text format of Prometheus',
        response: { 200: Type.String() },
      },
    },
    async (request, reply) => {
      const scraper = { socketAddress: request.socket.remoteAddress, token: bearerOf(request) };
      if (!mayScrape(deps, scraper)) {
        throw new AppError('UNAUTHORIZED', 'Send `Authorization: Bearer <METRICS_TOKEN>`.');
      }
      const { text, contentType } = await deps.metrics.expose();
      return reply.type(contentType).send(text);
    },
  );
};
