import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { callerOf } from '../../../platform/http/callers/credentials.ts';
import { getHistory, getUsage, type UsageDeps } from './read.ts';
import { HistoryQuery, Usage, UsageHistory } from './usage.schema.ts';

export const usageRoutes: FastifyPluginAsyncTypebox<UsageDeps> = async (app, deps) => {
  const config = {
    access: 'developer',
    role: 'runtime',
    boundKeys: 'forbidden',
    rate: 'default',
    failures: [],
  } as const;

  app.get(
    '/v1/usage',
    {
      config: { ...config, capability: 'read' },
      schema: {
        operationId: 'usage.get',
        summary: 'Count the requests of today and of this month',
        response: { 200: Usage },
      },
    },
    (request) => getUsage(deps, callerOf(request)),
  );

  app.get(
    '/v1/usage/history',
    {
      config: { ...config, capability: 'read' },
      schema: {
        operationId: 'usage.history',
        summary: 'List the requests of each day, newest first',
        querystring: HistoryQuery,
        response: { 200: UsageHistory },
      },
    },
    (request) => getHistory(deps, callerOf(request), request.query.days),
  );
};
