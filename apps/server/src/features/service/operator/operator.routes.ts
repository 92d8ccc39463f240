import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import type { ServiceContext } from '../../../feature.ts';
import { generalRates } from '../../../platform/http/limits/rate-rules.ts';
import { OperatorEntryPage, OperatorEntryQuery } from './operator.schema.ts';
import { listOperatorEntries } from './operator.ts';

export const operatorRoutes: FastifyPluginAsyncTypebox<Pick<ServiceContext, 'db'>> = async (app, deps) => {
  app.get(
    '/v1/admin/entries',
    {
      config: { access: 'operator', rate: generalRates.admin, failures: [] },
      schema: {
        operationId: 'operator.entries',
        summary: "List the entries of the operator's audit chain, oldest first",
        querystring: OperatorEntryQuery,
        response: { 200: OperatorEntryPage },
      },
    },
    (request) => listOperatorEntries(deps, request.query),
  );
};
