import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { callerOf } from '../../../platform/http/callers/credentials.ts';
import { access, askedIn, asScim, isHeavy, sendFound, sendSeen } from './scim.answers.routes.ts';
import { Resource, ResourceBody, ResourceList, ResourcePath, SearchQuery, ViewQuery } from './scim.schema.ts';
import { createUser, deleteUser, patchUser, replaceUser } from './scim.users.service.ts';
import { type DirectoryDeps, getUser, listUsers } from './scim.users.show.service.ts';

export const scimUserRoutes: FastifyPluginAsyncTypebox<DirectoryDeps> = async (app, deps) => {
  app.post(
    '/scim/v2/Users',
    {
      config: { ...access, failures: ['CONFLICT'] },
      schema: {
        operationId: 'scim.createUser',
        summary: 'Provision a person',
        querystring: ViewQuery,
        body: ResourceBody,
        response: { 201: Resource },
      },
    },
    async (request, reply) =>
      sendSeen(reply, await createUser(deps, callerOf(request), request.body, request.query), 201),
  );

  app.get(
    '/scim/v2/Users',
    {
      config: { ...access, failures: [], isHeavy },
      schema: {
        operationId: 'scim.listUsers',
        summary: 'List the people that pass a filter',
        querystring: SearchQuery,
        response: { 200: ResourceList },
      },
    },
    async (request, reply) => asScim(reply).send(await listUsers(deps, callerOf(request), request.query)),
  );

  app.post(
    '/scim/v2/Users/.search',
    {
      config: { ...access, failures: [], isHeavy },
      schema: {
        operationId: 'scim.searchUsers',
        summary: 'List the people that pass a filter, which is in the body',
        body: ResourceBody,
        response: { 200: ResourceList },
      },
    },
    async (request, reply) => asScim(reply).send(await listUsers(deps, callerOf(request), request.body)),
  );

  app.get(
    '/scim/v2/Users/:id',
    {
      config: { ...access, failures: ['NOT_FOUND'] },
      schema: {
        operationId: 'scim.getUser',
        summary: 'Read a person',
        params: ResourcePath,
        querystring: ViewQuery,
        response: { 200: Resource, 304: Type.Null() },
      },
    },
    async (request, reply) =>
      sendFound(request, reply, await getUser(deps, callerOf(request), request.params.id, request.query)),
  );

  app.put(
    '/scim/v2/Users/:id',
    {
      config: { ...access, failures: ['NOT_FOUND', 'CONFLICT', 'PRECONDITION_FAILED'] },
      schema: {
        operationId: 'scim.replaceUser',
        summary: 'Replace a person',
        params: ResourcePath,
        querystring: ViewQuery,
        body: ResourceBody,
        response: { 200: Resource },
      },
    },
    async (request, reply) => {
      const { params, body } = request;
      return sendSeen(reply, await replaceUser(deps, callerOf(request), params.id, body, askedIn(request)));
    },
  );

  app.patch(
    '/scim/v2/Users/:id',
    {
      config: { ...access, failures: ['NOT_FOUND', 'CONFLICT', 'PRECONDITION_FAILED'] },
      schema: {
        operationId: 'scim.changeUser',
        summary: 'Change attributes of a person',
        params: ResourcePath,
        querystring: ViewQuery,
        body: ResourceBody,
        response: { 200: Resource },
      },
    },
    async (request, reply) => {
      const { params, body } = request;
      return sendSeen(reply, await patchUser(deps, callerOf(request), params.id, body, askedIn(request)));
    },
  );

  app.delete(
    '/scim/v2/Users/:id',
    {
      config: { ...access, failures: ['NOT_FOUND', 'PRECONDITION_FAILED'] },
      schema: {
        operationId: 'scim.deleteUser',
        summary: 'Delete a person, and end everything that agents hold of them',
        params: ResourcePath,
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      await deleteUser(deps, callerOf(request), request.params.id, askedIn(request));
      return reply.code(204).send(null);
    },
  );
};
