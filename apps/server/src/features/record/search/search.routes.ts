import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { callerOf } from '../../../platform/http/callers/credentials.ts';
import { type SearchDeps, search } from './find.ts';
import { SearchQuery, SearchResults } from './search.schema.ts';

export const searchRoutes: FastifyPluginAsyncTypebox<SearchDeps> = async (app, deps) => {
  app.get(
    '/v1/search',
    {
      config: {
        access: 'developer',
        capability: 'read',
        role: 'runtime',
        boundKeys: 'own agents',
        rate: 'default',
        failures: [],
      },
      schema: {
        operationId: 'search.find',
        summary: 'Find a record by its id, or by the beginning of a name or of a principal',
        querystring: SearchQuery,
        response: { 200: SearchResults },
      },
    },
    (request) => search(deps, callerOf(request), request.query),
  );
};
