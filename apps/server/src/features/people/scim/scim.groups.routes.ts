import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { callerOf } from '../../../platform/http/callers/credentials.ts';
import { access, askedIn, asScim, isHeavy, sendFound, sendSeen } from './scim.answers.routes.ts';
import {
  createGroup,
  deleteGroup,
  getGroup,
  listGroups,
  patchGroup,
  replaceGroup,
} from './scim.groups.service.ts';
import { Resource, ResourceBody, ResourceList, ResourcePath, SearchQuery, ViewQuery } from './scim.schema.ts';
import type { DirectoryDeps } from './scim.users.show.service.ts';

export const scimGroupRoutes: FastifyPluginAsyncTypebox<DirectoryDeps> = async (app, deps) => {
  app.post(
    '/scim/v2/Groups',
    {
      config: { ...access, failures: ['CONFLICT'] },
      schema: {
        operationId: 'scim.createGroup',
        summary: 'Create a group',
        querystring: ViewQuery,
        body: ResourceBody,
        response: { 201: Resource },
      },
    },
    async (request, reply) =>
      sendSeen(reply, await createGroup(deps, callerOf(request), request.body, request.query), 201),
  );

  app.get(
    '/scim/v2/Groups',
    {
      config: { ...access, failures: [], isHeavy },
      schema: {
        operationId: 'scim.listGroups',
        summary: 'List the groups that pass a filter',
        querystring: SearchQuery,
        response: { 200: ResourceList },
      },
    },
    async (request, reply) => asScim(reply).send(await listGroups(deps, callerOf(request), request.query)),
  );

  app.post(
    '/scim/v2/Groups/.search',
    {
      config: { ...access, failures: [], isHeavy },
      schema: {
        operationId: 'scim.searchGroups',
        summary: 'List the groups that pass a filter, which is in the body',
        body: ResourceBody,
        response: { 200: ResourceList },
      },
    },
    async (request, reply) => asScim(reply).send(await listGroups(deps, callerOf(request), request.body)),
  );

  app.get(
    '/scim/v2/Groups/:id',
    {
      config: { ...access, failures: ['NOT_FOUND'] },
      schema: {
        operationId: 'scim.getGroup',
        summary: 'Read a group',
        params: ResourcePath,
        querystring: ViewQuery,
        response: { 200: Resource, 304: Type.Null() },
      },
    },
    async (request, reply) =>
      sendFound(request, reply, await getGroup(deps, callerOf(request), request.params.id, request.query)),
  );

  app.put(
    '/scim/v2/Groups/:id',
    {
      config: { ...access, failures: ['NOT_FOUND', 'CONFLICT', 'PRECONDITION_FAILED'] },
      schema: {
        operationId: 'scim.replaceGroup',
        summary: 'Replace a group',
        params: ResourcePath,
        querystring: ViewQuery,
        body: ResourceBody,
        response: { 200: Resource },
      },
    },
    async (request, reply) => {
      const { params, body } = request;
      return sendSeen(reply, await replaceGroup(deps, callerOf(request), params.id, body, askedIn(request)));
    },
  );

  app.patch(
    '/scim/v2/Groups/:id',
    {
      config: { ...access, failures: ['NOT_FOUND', 'CONFLICT', 'PRECONDITION_FAILED'] },
      schema: {
        operationId: 'scim.changeGroup',
        summary: 'Change attributes of a group',
        params: ResourcePath,
        querystring: ViewQuery,
        body: ResourceBody,
        response: { 200: Resource },
      },
    },
    async (request, reply) => {
      const { params, body } = request;
      return sendSeen(reply, await patchGroup(deps, callerOf(request), params.id, body, askedIn(request)));
    },
  );

  app.delete(
    '/scim/v2/Groups/:id',
    {
      config: { ...access, failures: ['NOT_FOUND', 'PRECONDITION_FAILED'] },
      schema: {
        operationId: 'scim.deleteGroup',
        summary: 'Delete a group',
        params: ResourcePath,
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      await deleteGroup(deps, callerOf(request), request.params.id, askedIn(request));
      return reply.code(204).send(null);
    },
  );
};
