import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { callerOf } from '../../../platform/http/callers/credentials.ts';
import { access, asScim, bulkResponse } from './answers.routes.ts';
import { doBulk } from './bulk.ts';
import { BulkResponse, ResourceBody, ResourceList } from './scim.schema.ts';
import { searchAll } from './search.ts';
import type { DirectoryDeps } from './users.show.ts';

export const scimBulkRoutes: FastifyPluginAsyncTypebox<DirectoryDeps> = async (app, deps) => {
  app.post(
    '/scim/v2/Bulk',
    {
      config: { ...access, failures: [], isHeavy: true },
      schema: {
        operationId: 'scim.bulk',
        summary: 'Do many operations in one request, each by itself',
        body: ResourceBody,
        response: { 200: BulkResponse },
      },
    },
    async (request, reply) =>
      asScim(reply).send(bulkResponse(await doBulk(deps, callerOf(request), request.body))),
  );

  app.post(
    '/scim/v2/.search',
    {
      config: { ...access, failures: [], isHeavy: true },
      schema: {
        operationId: 'scim.search',
        summary: 'List the people, and then the groups, that pass a filter',
        body: ResourceBody,
        response: { 200: ResourceList },
      },
    },
    async (request, reply) => asScim(reply).send(await searchAll(deps, callerOf(request), request.body)),
  );
};
