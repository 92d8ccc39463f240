import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { callerOf } from '../../../platform/http/callers/credentials.ts';
import { Denials, DenialsQuery, Series, SeriesQuery } from './insights.schema.ts';
import { countDenials, type InsightDeps, readSeries } from './read.ts';

export const insightRoutes: FastifyPluginAsyncTypebox<InsightDeps> = async (app, deps) => {
  app.get(
    '/v1/insights/series',
    {
      config: { access: 'developer', capability: 'read', role: 'full', rate: 'default', failures: [] },
      schema: {
        operationId: 'insights.series',
        summary: 'Count what happened by hour or day',
        description:
          'Denials are those of calls that were made, and decisions those that a person granted or denied. Counts are kept for 90 days.',
        querystring: SeriesQuery,
        response: { 200: Series },
      },
    },
    (request) => readSeries(deps, callerOf(request), request.query),
  );

  app.get(
    '/v1/insights/denials',
    {
      config: { access: 'developer', capability: 'read', role: 'full', rate: 'default', failures: [] },
      schema: {
        operationId: 'insights.denials',
        summary: 'Count denied calls by reason',
        description:
          'Denials of calls that were made, in the whole hours that the span touches. Counts are kept for 90 days.',
        querystring: DenialsQuery,
        response: { 200: Denials },
      },
    },
    (request) => countDenials(deps, callerOf(request), request.query),
  );
};
