import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { access, asScim } from './answers.routes.ts';
import {
  getConfig,
  getResourceType,
  getSchema,
  listResourceTypes,
  listSchemas,
  refuseMe,
} from './discovery.ts';
import { FilterQuery, ResourceBody, ResourceList, ResourcePath, ScimResource } from './scim.schema.ts';

const open = { access: 'none', errors: 'scim', rate: 'default', isPublic: true, takesSlash: true } as const;

export const scimDiscoveryRoutes: FastifyPluginAsyncTypebox<{ readonly publicBaseUrl: string }> = async (
  app,
  deps,
) => {
  app.get(
    '/scim/v2/ServiceProviderConfig',
    {
      config: { ...open, failures: [] },
      schema: {
        operationId: 'scim.config',
        summary: 'The parts of SCIM that the service has',
        response: { 200: ScimResource },
      },
    },
    async (_request, reply) => asScim(reply).send(getConfig(deps)),
  );

  app.get(
    '/scim/v2/ResourceTypes',
    {
      config: { ...open, failures: ['FORBIDDEN'] },
      schema: {
        operationId: 'scim.listResourceTypes',
        summary: 'The kinds of resources',
        querystring: FilterQuery,
        response: { 200: ResourceList },
      },
    },
    async (request, reply) => asScim(reply).send(listResourceTypes(deps, request.query)),
  );

  app.get(
    '/scim/v2/ResourceTypes/:id',
    {
      config: { ...open, failures: ['NOT_FOUND'] },
      schema: {
        operationId: 'scim.getResourceType',
        summary: 'One kind of resources',
        params: ResourcePath,
        response: { 200: ScimResource },
      },
    },
    async (request, reply) => asScim(reply).send(getResourceType(deps, request.params.id)),
  );

  app.get(
    '/scim/v2/Schemas',
    {
      config: { ...open, failures: ['FORBIDDEN'] },
      schema: {
        operationId: 'scim.listSchemas',
        summary: 'The attributes of all resources',
        querystring: FilterQuery,
        response: { 200: ResourceList },
      },
    },
    async (request, reply) => asScim(reply).send(listSchemas(deps, request.query)),
  );

  app.get(
    '/scim/v2/Schemas/:id',
    {
      config: { ...open, failures: ['NOT_FOUND'] },
      schema: {
        operationId: 'scim.getSchema',
        summary: 'The attributes of one schema',
        params: ResourcePath,
        response: { 200: ScimResource },
      },
    },
    async (request, reply) => asScim(reply).send(getSchema(deps, request.params.id)),
  );

  for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const) {
    const takesBody = method !== 'GET' && method !== 'DELETE';
    app.route({
      method,
      url: '/scim/v2/Me',
      config: { ...access, failures: ['NOT_SUPPORTED'] },
      schema: {
        operationId: `scim.${method.toLowerCase()}Me`,
        summary: 'Not offered: a SCIM token stands for no person',
        ...(takesBody && { body: ResourceBody }),
        response: { 204: Type.Null() },
      },
      handler: () => refuseMe(),
    });
  }
};
