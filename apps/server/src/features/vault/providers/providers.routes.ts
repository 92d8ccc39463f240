import { NoFields } from '@behest/protocol/shapes';
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { callerOf } from '../../../platform/http/callers/credentials.ts';
import { depsFor } from '../../../platform/http/idempotency/idempotency.ts';
import { rateRules } from '../../../platform/http/limits/rate-rules.ts';
import { changeProvider, rediscover } from './change.ts';
import { clientMetadata } from './discovery.ts';
import {
  ClientDocument,
  NewProvider,
  Provider,
  ProviderChange,
  ProviderPage,
  ProviderPath,
  ProviderPresets,
  ProviderQuery,
} from './providers.schema.ts';
import { addProvider, deleteProvider } from './providers.ts';
import { getProvider, listPresets, listProviders, type ProviderDeps } from './show.ts';

export const rates = rateRules({
  vaultProviderWrite: {
    perMinute: 30,
    describes: 'adding, changing and deleting providers of connected accounts, by developer',
    counts: [{ by: 'developer' }],
  },
});

const reading = {
  access: 'developer',
  role: 'runtime',
  boundKeys: 'forbidden',
  rate: 'default',
} as const;
const writing = { access: 'developer', role: 'full', rate: rates.vaultProviderWrite } as const;

/** No route of these answers a secret. */
export const providerRoutes: FastifyPluginAsyncTypebox<ProviderDeps> = async (app, deps) => {
  app.post(
    '/v1/vault/providers',
    {
      config: {
        ...writing,
        capability: 'configure',
        failures: ['DISCOVERY_FAILED', 'CONFLICT', 'PLAN_LIMIT_EXCEEDED', 'UPSTREAM_ERROR', 'NOT_CONFIGURED'],
      },
      schema: {
        operationId: 'providers.add',
        summary: 'Add an upstream at which people connect their accounts',
        description:
          'The service reads what the upstream publishes about itself, in this call. Register `redirectUri` of the answer at the upstream.',
        body: NewProvider,
        response: { 201: Provider },
      },
    },
    async (request, reply) =>
      reply.code(201).send(await addProvider(depsFor(request, deps), callerOf(request), request.body)),
  );

  app.get(
    '/v1/vault/providers',
    {
      config: { ...reading, capability: 'read', failures: [] },
      schema: {
        operationId: 'providers.list',
        summary: 'List providers, newest first',
        querystring: ProviderQuery,
        response: { 200: ProviderPage },
      },
    },
    (request) => listProviders(deps, callerOf(request), request.query),
  );

  app.get(
    '/v1/vault/provider-presets',
    {
      config: { ...reading, capability: 'read', failures: [] },
      schema: {
        operationId: 'providers.presets',
        summary: 'List the presets, which describe upstreams that many developers use',
        response: { 200: ProviderPresets },
      },
    },
    async () => listPresets(),
  );

  app.get(
    '/v1/vault/providers/:id',
    {
      config: { ...reading, capability: 'read', failures: ['NOT_FOUND'] },
      schema: {
        operationId: 'providers.get',
        summary: 'Read a provider without its secrets',
        params: ProviderPath,
        response: { 200: Provider },
      },
    },
    (request) => getProvider(deps, callerOf(request), request.params.id),
  );

  app.patch(
    '/v1/vault/providers/:id',
    {
      config: {
        ...writing,
        capability: 'configure',
        failures: ['NOT_FOUND', 'DISCOVERY_FAILED', 'CONFLICT', 'UPSTREAM_ERROR', 'NOT_CONFIGURED'],
      },
      schema: {
        operationId: 'providers.change',
        summary: 'Change a provider',
        description:
          'Connections keep the endpoints and the client with which they were made. Another issuer, token endpoint or client drops the client secret: send its own in the same body.',
        params: ProviderPath,
        body: ProviderChange,
        response: { 200: Provider },
      },
    },
    (request) => changeProvider(depsFor(request, deps), callerOf(request), request.params.id, request.body),
  );

  app.post(
    '/v1/vault/providers/:id/discover',
    {
      config: {
        ...writing,
        capability: 'configure',
        failures: ['NOT_FOUND', 'DISCOVERY_FAILED', 'CONFLICT', 'UPSTREAM_ERROR'],
      },
      schema: {
        operationId: 'providers.discover',
        summary: 'Read again what the upstream publishes about itself',
        params: ProviderPath,
        body: NoFields,
        response: { 200: Provider },
      },
    },
    (request) => rediscover(depsFor(request, deps), callerOf(request), request.params.id),
  );

  app.delete(
    '/v1/vault/providers/:id',
    {
      config: { ...writing, capability: 'configure', failures: ['NOT_FOUND', 'CONFLICT'] },
      schema: {
        operationId: 'providers.delete',
        summary: 'Delete a provider through which no account is connected',
        params: ProviderPath,
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      await deleteProvider(deps, callerOf(request), request.params.id);
      return reply.code(204).send(null);
    },
  );

  app.get(
    '/connect/clients/:id',
    {
      config: { access: 'none', rate: 'default', isPublic: true, failures: ['NOT_FOUND'] },
      schema: {
        operationId: 'providers.clientDocument',
        summary: "The metadata of a provider's client, for upstreams that read it from its id",
        params: ProviderPath,
        response: { 200: ClientDocument },
      },
    },
    async (request, reply) => {
      const document = await clientMetadata(deps, request.params.id);
      return reply.header('cache-control', 'public, max-age=300').send(document);
    },
  );
};
