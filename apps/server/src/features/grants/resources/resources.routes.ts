import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { callerOf } from '../../../platform/http/callers/credentials.ts';
import { depsFor } from '../../../platform/http/idempotency/idempotency.ts';
import {
  addResource,
  changeResource,
  getResource,
  listResources,
  type ResourceDeps,
  removeResource,
} from './register.ts';
import {
  CreatedResource,
  NewResource,
  Resource,
  ResourceChange,
  ResourcePage,
  ResourcePath,
  ResourceQuery,
} from './resources.schema.ts';

const full = { access: 'developer', role: 'full', rate: 'default' } as const;

export const resourceRoutes: FastifyPluginAsyncTypebox<ResourceDeps> = async (app, deps) => {
  app.post(
    '/v1/resources',
    {
      config: {
        ...full,
        capability: 'configure',
        stepUp: true,
        failures: ['CONFLICT', 'INVALID_SCOPE', 'PLAN_LIMIT_EXCEEDED'],
      },
      schema: {
        operationId: 'resources.add',
        summary: 'Register a server that takes tokens',
        description:
          'Its URI becomes the audience of tokens. The credential of the answer is shown once; with it the server introspects tokens.',
        body: NewResource,
        response: { 201: CreatedResource },
      },
    },
    async (request, reply) =>
      reply.code(201).send(await addResource(depsFor(request, deps), callerOf(request), request.body)),
  );

  app.get(
    '/v1/resources',
    {
      config: { ...full, capability: 'read', failures: [] },
      schema: {
        operationId: 'resources.list',
        summary: 'List registered servers, newest first',
        querystring: ResourceQuery,
        response: { 200: ResourcePage },
      },
    },
    (request) => listResources(deps, callerOf(request), request.query),
  );

  app.get(
    '/v1/resources/:id',
    {
      config: { ...full, capability: 'read', failures: ['NOT_FOUND'] },
      schema: {
        operationId: 'resources.get',
        summary: 'Read a registered server without its credential',
        params: ResourcePath,
        response: { 200: Resource },
      },
    },
    (request) => getResource(deps, callerOf(request), request.params.id),
  );

  app.patch(
    '/v1/resources/:id',
    {
      config: { ...full, capability: 'configure', failures: ['NOT_FOUND', 'INVALID_SCOPE'] },
      schema: {
        operationId: 'resources.change',
        summary: 'Change a registered server',
        params: ResourcePath,
        body: ResourceChange,
        response: { 200: Resource },
      },
    },
    (request) => changeResource(depsFor(request, deps), callerOf(request), request.params.id, request.body),
  );

  app.delete(
    '/v1/resources/:id',
    {
      config: { ...full, capability: 'configure', failures: ['NOT_FOUND'] },
      schema: {
        operationId: 'resources.remove',
        summary: 'Remove a registered server',
        params: ResourcePath,
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      await removeResource(deps, callerOf(request), request.params.id);
      return reply.code(204).send(null);
    },
  );
};
