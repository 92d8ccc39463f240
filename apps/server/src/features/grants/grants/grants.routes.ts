import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { callerOf } from '../../../platform/http/callers/credentials.ts';
import { RevocationStatement, type StatementDeps } from '../verifiers/index.ts';
import {
  Grant,
  GrantPage,
  GrantPath,
  GrantQuery,
  RevokeQuery,
  StopPreview,
  StopQuery,
} from './grants.schema.ts';
import { getGrant, getRevocation, listGrants, type ReadDeps } from './list.ts';
import { type PreviewDeps, previewStop } from './preview.ts';
import { revokeAndState } from './revoke.ts';

export const grantRoutes: FastifyPluginAsyncTypebox<ReadDeps & PreviewDeps & StatementDeps> = async (
  app,
  deps,
) => {
  app.get(
    '/v1/grants',
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
        operationId: 'grants.list',
        summary: 'List grants, newest first',
        querystring: GrantQuery,
        response: { 200: GrantPage },
      },
    },
    (request) => listGrants(deps, callerOf(request), request.query),
  );

  app.get(
    '/v1/stops/preview',
    {
      config: {
        access: 'developer',
        capability: 'read',
        role: 'full',
        rate: 'default',
        failures: ['NOT_FOUND'],
      },
      schema: {
        operationId: 'grants.previewStop',
        summary: 'Count what ends with an agent, a principal, a grant or a stop of the account',
        querystring: StopQuery,
        response: { 200: StopPreview },
      },
    },
    (request) => previewStop(deps, callerOf(request), request.query),
  );

  app.get(
    '/v1/grants/:id',
    {
      config: {
        access: 'developer',
        capability: 'read',
        role: 'runtime',
        boundKeys: 'own agents',
        rate: 'default',
        failures: ['NOT_FOUND'],
      },
      schema: {
        operationId: 'grants.get',
        summary: 'Read a grant',
        params: GrantPath,
        response: { 200: Grant },
      },
    },
    (request) => getGrant(deps, callerOf(request), request.params.id),
  );

  app.get(
    '/v1/grants/:id/revocation',
    {
      config: {
        access: 'developer',
        capability: 'read',
        role: 'runtime',
        boundKeys: 'own agents',
        rate: 'default',
        failures: ['NOT_FOUND'],
      },
      schema: {
        operationId: 'grants.revocation',
        summary: 'Read the newest statement about the revocation of a grant',
        params: GrantPath,
        response: { 200: RevocationStatement },
      },
    },
    (request) => getRevocation(deps, callerOf(request), request.params.id),
  );

  app.delete(
    '/v1/grants/:id',
    {
      config: {
        access: 'developer',
        capability: 'operate',
        role: 'runtime',
        boundKeys: 'own agents',
        rate: 'default',
        failures: ['NOT_FOUND'],
      },
      schema: {
        operationId: 'grants.revoke',
        summary: 'Revoke a grant, its tokens and everything delegated from it',
        description:
          'With `wait=confirmed` the answer is a signed statement of who has confirmed that they accept the grant no more. The grant is revoked before the wait. A repeated call waits again, until a statement is complete.',
        params: GrantPath,
        querystring: RevokeQuery,
        response: { 200: RevocationStatement, 204: Type.Null() },
      },
    },
    async (request, reply) => {
      const statement = await revokeAndState(deps, callerOf(request), request.params.id, request.query);
      return statement ? reply.code(200).send(statement) : reply.code(204).send(null);
    },
  );
};
