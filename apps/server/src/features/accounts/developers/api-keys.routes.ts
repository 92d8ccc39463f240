import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { callerOf } from '../../../platform/http/callers/credentials.ts';
import { depsFor } from '../../../platform/http/idempotency/idempotency.ts';
import { type CreateKeyDeps, createKey, listKeys, revokeKey, rotateKey } from './api-keys.ts';
import { rates } from './developers.rates.ts';
import {
  ApiKeyPage,
  ApiKeyPath,
  ApiKeyQuery,
  CreatedApiKey,
  NewApiKey,
  RotateApiKey,
  RotatedApiKey,
} from './developers.schema.ts';

/** A `full` key does what an owner does, so only an owner makes one. */
const ofFullKey = (body: unknown) => (Object(body).role === 'full' ? 'govern' : undefined);

export const apiKeyRoutes: FastifyPluginAsyncTypebox<CreateKeyDeps> = async (app, deps) => {
  app.get(
    '/v1/keys',
    {
      config: { access: 'developer', capability: 'read', role: 'full', rate: 'default', failures: [] },
      schema: {
        operationId: 'apiKeys.list',
        summary: 'List API keys, newest first',
        querystring: ApiKeyQuery,
        response: { 200: ApiKeyPage },
      },
    },
    (request) => listKeys(deps, callerOf(request), request.query),
  );

  app.post(
    '/v1/keys',
    {
      config: {
        access: 'developer',
        capability: 'configure',
        stepUp: true,
        capabilityFor: ofFullKey,
        role: 'full',
        rate: rates.keys,
        failures: ['NOT_FOUND', 'CONFLICT'],
      },
      schema: {
        operationId: 'apiKeys.create',
        summary: 'Create an API key',
        description:
          'A `runtime` key with `agentIds` is bound: it sees these agents and acts for these, and for no others.',
        body: NewApiKey,
        response: { 201: CreatedApiKey },
      },
    },
    async (request, reply) =>
      reply.code(201).send(await createKey(depsFor(request, deps), callerOf(request), request.body)),
  );

  app.post(
    '/v1/keys/rotate',
    {
      config: {
        access: 'developer',
        capability: 'never',
        role: 'runtime',
        boundKeys: 'open',
        rate: rates.keys,
        failures: [],
      },
      schema: {
        operationId: 'apiKeys.rotate',
        summary: 'Replace the API key that makes this call',
        body: RotateApiKey,
        response: { 200: RotatedApiKey },
      },
    },
    (request) => rotateKey(depsFor(request, deps), callerOf(request), request.body),
  );

  app.delete(
    '/v1/keys/:id',
    {
      config: {
        access: 'developer',
        capability: 'configure',
        role: 'full',
        rate: rates.keys,
        failures: ['NOT_FOUND', 'CONFLICT'],
      },
      schema: {
        operationId: 'apiKeys.revoke',
        summary: 'Revoke an API key',
        params: ApiKeyPath,
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      await revokeKey(deps, callerOf(request), request.params.id);
      return reply.code(204).send(null);
    },
  );
};
