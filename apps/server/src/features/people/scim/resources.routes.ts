import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import type { Caller } from '../../../platform/caller.ts';
import { callerOf } from '../../../platform/http/callers/credentials.ts';
import { access, askedIn, asScim, bulkResponse, isHeavy, sendFound, sendResource } from './answers.routes.ts';
import { doBulk } from './bulk.ts';
import { createGroup, deleteGroup, getGroup, listGroups, patchGroup, replaceGroup } from './groups.ts';
import {
  BulkResponse,
  ResourceBody,
  ResourceList,
  ResourcePath,
  ScimResource,
  SearchQuery,
  ViewQuery,
} from './scim.schema.ts';
import { searchAll } from './search.ts';
import {
  type DirectoryDeps,
  getUser,
  listUsers,
  type ScimRequest,
  type ShownResource,
} from './users.show.ts';
import { createUser, deleteUser, patchUser, replaceUser } from './users.ts';

/** Where resources of a type are, how the description of the API speaks of them, and what serves them. */
export interface ResourceKind {
  /** The resource type (RFC 7643 §6); its plural is the endpoint. */
  readonly type: 'User' | 'Group';
  readonly summaries: Readonly<
    Record<'create' | 'list' | 'search' | 'get' | 'replace' | 'change' | 'delete', string>
  >;
  readonly create: (
    deps: DirectoryDeps,
    caller: Caller,
    body: object,
    query: object,
  ) => Promise<ShownResource>;
  readonly list: typeof listUsers;
  readonly get: (deps: DirectoryDeps, caller: Caller, id: string, query: object) => Promise<ShownResource>;
  readonly replace: Write;
  readonly patch: Write;
  readonly remove: (deps: DirectoryDeps, caller: Caller, id: string, asked: ScimRequest) => Promise<unknown>;
}

type Write = (
  deps: DirectoryDeps,
  caller: Caller,
  id: string,
  body: object,
  asked: ScimRequest,
) => Promise<ShownResource>;

/** The operations that RFC 7644 §3 has for each type of resources. */
function resourceRoutes(kind: ResourceKind): FastifyPluginAsyncTypebox<DirectoryDeps> {
  const { type, summaries } = kind;
  const all = `/scim/v2/${type}s`;
  const one = `${all}/:id`;

  return async (app, deps) => {
    app.post(
      all,
      {
        config: { ...access, failures: ['CONFLICT', 'PLAN_LIMIT_EXCEEDED'] },
        schema: {
          operationId: `scim.create${type}`,
          summary: summaries.create,
          querystring: ViewQuery,
          body: ResourceBody,
          response: { 201: ScimResource },
        },
      },
      async (request, reply) =>
        sendResource(reply, await kind.create(deps, callerOf(request), request.body, request.query), 201),
    );

    app.get(
      all,
      {
        config: { ...access, failures: [], isHeavy },
        schema: {
          operationId: `scim.list${type}s`,
          summary: summaries.list,
          querystring: SearchQuery,
          response: { 200: ResourceList },
        },
      },
      async (request, reply) => asScim(reply).send(await kind.list(deps, callerOf(request), request.query)),
    );

    app.post(
      `${all}/.search`,
      {
        config: { ...access, failures: [], isHeavy },
        schema: {
          operationId: `scim.search${type}s`,
          summary: summaries.search,
          body: ResourceBody,
          response: { 200: ResourceList },
        },
      },
      async (request, reply) => asScim(reply).send(await kind.list(deps, callerOf(request), request.body)),
    );

    app.get(
      one,
      {
        config: { ...access, failures: ['NOT_FOUND'] },
        schema: {
          operationId: `scim.get${type}`,
          summary: summaries.get,
          params: ResourcePath,
          querystring: ViewQuery,
          response: { 200: ScimResource, 304: Type.Null() },
        },
      },
      async (request, reply) =>
        sendFound(request, reply, await kind.get(deps, callerOf(request), request.params.id, request.query)),
    );

    const writes = [
      ['PUT', `scim.replace${type}`, summaries.replace, kind.replace],
      ['PATCH', `scim.change${type}`, summaries.change, kind.patch],
    ] as const;
    for (const [method, operationId, summary, write] of writes) {
      app.route({
        method,
        url: one,
        config: { ...access, failures: ['NOT_FOUND', 'CONFLICT', 'PRECONDITION_FAILED'] },
        schema: {
          operationId,
          summary,
          params: ResourcePath,
          querystring: ViewQuery,
          body: ResourceBody,
          response: { 200: ScimResource },
        },
        handler: async (request, reply) => {
          const { params, body } = request;
          return sendResource(reply, await write(deps, callerOf(request), params.id, body, askedIn(request)));
        },
      });
    }

    app.delete(
      one,
      {
        config: { ...access, failures: ['NOT_FOUND', 'PRECONDITION_FAILED'] },
        schema: {
          operationId: `scim.delete${type}`,
          summary: summaries.delete,
          params: ResourcePath,
          response: { 204: Type.Null() },
        },
      },
      async (request, reply) => {
        await kind.remove(deps, callerOf(request), request.params.id, askedIn(request));
        return reply.code(204).send(null);
      },
    );
  };
}

export const scimUserRoutes = resourceRoutes({
  type: 'User',
  summaries: {
    create: 'Provision a person',
    list: 'List the people that pass a filter',
    search: 'List the people that pass a filter, which is in the body',
    get: 'Read a person',
    replace: 'Replace a person',
    change: 'Change attributes of a person',
    delete: 'Delete a person, and end everything that agents hold of them',
  },
  create: createUser,
  list: listUsers,
  get: getUser,
  replace: replaceUser,
  patch: patchUser,
  remove: deleteUser,
});

export const scimGroupRoutes = resourceRoutes({
  type: 'Group',
  summaries: {
    create: 'Create a group',
    list: 'List the groups that pass a filter',
    search: 'List the groups that pass a filter, which is in the body',
    get: 'Read a group',
    replace: 'Replace a group',
    change: 'Change attributes of a group',
    delete: 'Delete a group',
  },
  create: createGroup,
  list: listGroups,
  get: getGroup,
  replace: replaceGroup,
  patch: patchGroup,
  remove: deleteGroup,
});

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
