import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { callerOf } from '../../../platform/http/callers/credentials.ts';
import { depsFor } from '../../../platform/http/idempotency/idempotency.ts';
import { rateRules } from '../../../platform/http/limits/rate-rules.ts';
import {
  CreatedScimToken,
  NewScimToken,
  ScimTokenPage,
  ScimTokenPath,
  ScimTokenQuery,
} from './scim.schema.ts';
import { createToken, deleteToken, listTokens, type TokenDeps } from './tokens.ts';

export const scimTokenRoutes: FastifyPluginAsyncTypebox<TokenDeps> = async (app, deps) => {
  app.post(
    '/v1/scim/tokens',
    {
      config: {
        access: 'developer',
        capability: 'configure',
        stepUp: true,
        role: 'full',
        rate: rates.scimTokenWrite,
        failures: ['CONFLICT'],
      },
      schema: {
        operationId: 'scimTokens.create',
        summary: 'Create a token for an identity provider, which provisions people with it',
        body: NewScimToken,
        response: { 201: CreatedScimToken },
      },
    },
    async (request, reply) =>
      reply.code(201).send(await createToken(depsFor(request, deps), callerOf(request), request.body)),
  );

  app.get(
    '/v1/scim/tokens',
    {
      config: { access: 'developer', capability: 'read', role: 'full', rate: 'default', failures: [] },
      schema: {
        operationId: 'scimTokens.list',
        summary: 'List SCIM tokens without their secrets, newest first',
        querystring: ScimTokenQuery,
        response: { 200: ScimTokenPage },
      },
    },
    (request) => listTokens(deps, callerOf(request), request.query),
  );

  app.delete(
    '/v1/scim/tokens/:id',
    {
      config: {
        access: 'developer',
        capability: 'configure',
        role: 'full',
        rate: rates.scimTokenWrite,
        failures: ['NOT_FOUND'],
      },
      schema: {
        operationId: 'scimTokens.delete',
        summary: 'Delete a SCIM token, which is refused from then on',
        params: ScimTokenPath,
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      await deleteToken(deps, callerOf(request), request.params.id);
      return reply.code(204).send(null);
    },
  );
};

export const rates = rateRules({
  scim: {
    perMinute: 30_000, // a directory that comes for the first time, by a search and a write for each person
    describes: 'calls of an identity provider, by SCIM token',
    counts: [{ by: 'token' }],
  },
  scimTokenWrite: {
    perMinute: 30,
    describes: 'creating and deleting SCIM tokens, by developer',
    counts: [{ by: 'developer' }],
  },
});
