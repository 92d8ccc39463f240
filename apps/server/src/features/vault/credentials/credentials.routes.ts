import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { callerOf, holderOf } from '../../../platform/http/callers/credentials.ts';
import { depsFor } from '../../../platform/http/idempotency/idempotency.ts';
import { rates } from './credentials.rates.ts';
import {
  CredentialExchange,
  CredentialPath,
  CredentialQuery,
  ExchangedCredential,
  NewVaultCredential,
  StoredCredential,
  VaultCredential,
  VaultCredentialPage,
} from './credentials.schema.ts';
import { getCredential, listCredentials, storeCredential } from './credentials.ts';
import { deleteCredential } from './delete.ts';
import type { CredentialDeps } from './deps.ts';
import { type ExchangeDeps, exchangeCredential } from './exchange.ts';

const LARGEST_BODY = 65_536; // bytes: two tokens of 16 KiB in JSON, and metadata

/** No route of these answers a secret. */
export const credentialRoutes: FastifyPluginAsyncTypebox<CredentialDeps> = async (app, deps) => {
  app.post(
    '/v1/vault/credentials',
    {
      bodyLimit: LARGEST_BODY,
      config: {
        access: 'developer',
        capability: 'never',
        role: 'runtime',
        boundKeys: 'forbidden',
        rate: rates.vaultWrite,
        failures: ['CONFLICT', 'PLAN_LIMIT_EXCEEDED', 'NOT_CONFIGURED', 'PRINCIPAL_INACTIVE'],
      },
      schema: {
        operationId: 'vault.store',
        summary: 'Store an upstream credential of a principal, or replace it',
        description:
          'A principal has one credential for each service. Storing again replaces every field, and keeps the id. No API key reads the secrets back.',
        body: NewVaultCredential,
        response: { 201: StoredCredential },
      },
    },
    async (request, reply) =>
      reply.code(201).send(await storeCredential(depsFor(request, deps), callerOf(request), request.body)),
  );

  app.get(
    '/v1/vault/credentials',
    {
      config: {
        access: 'developer',
        capability: 'read',
        role: 'runtime',
        boundKeys: 'forbidden',
        rate: 'default',
        failures: [],
      },
      schema: {
        operationId: 'vault.list',
        summary: 'List credentials without their secrets, newest first',
        description: 'Pages by `page` and `pageSize`, or by `cursor` and `limit`, but not both.',
        querystring: CredentialQuery,
        response: { 200: VaultCredentialPage },
      },
    },
    (request) => listCredentials(deps, callerOf(request), request.query),
  );

  app.get(
    '/v1/vault/credentials/:id',
    {
      config: {
        access: 'developer',
        capability: 'read',
        role: 'runtime',
        boundKeys: 'forbidden',
        rate: 'default',
        failures: ['NOT_FOUND'],
      },
      schema: {
        operationId: 'vault.get',
        summary: 'Read a credential without its secrets',
        params: CredentialPath,
        response: { 200: VaultCredential },
      },
    },
    (request) => getCredential(deps, callerOf(request), request.params.id),
  );

  app.delete(
    '/v1/vault/credentials/:id',
    {
      config: {
        access: 'developer',
        capability: 'operate',
        role: 'runtime',
        boundKeys: 'forbidden',
        rate: rates.vaultWrite,
        failures: ['NOT_FOUND'],
      },
      schema: {
        operationId: 'vault.delete',
        summary: 'Delete a credential and the key of its secrets',
        params: CredentialPath,
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      await deleteCredential(deps, callerOf(request), request.params.id);
      return reply.code(204).send(null);
    },
  );
};

interface AnsweringDeps extends ExchangeDeps {
  /** @param status the class of an answer: `2xx`, `4xx` or `5xx` */
  readonly onExchangeAnswered: (status: string) => void;
}

export const exchangeRoutes: FastifyPluginAsyncTypebox<AnsweringDeps> = async (app, deps) => {
  // Refusals before the handler, of a bad token say, count too.
  app.addHook('onResponse', async (_, { statusCode }) =>
    deps.onExchangeAnswered(`${Math.floor(statusCode / 100)}xx`),
  );
  app.post(
    '/v1/vault/credentials/exchange',
    {
      config: {
        access: 'grant',
        takesExchanged: true,
        rate: rates.vaultExchange,
        failures: ['FORBIDDEN', 'NOT_FOUND', 'REAUTHORIZATION_REQUIRED', 'NOT_CONFIGURED', 'UPSTREAM_ERROR'],
      },
      schema: {
        operationId: 'vault.exchange',
        summary: "Get the principal's credential for a service with a grant token",
        description:
          'The token needs one of the scopes `*`, `<service>:*`, `<service>:read`, `<service>:credentials:read`, `vault:<service>:*`, `vault:<service>:read` or `vault:credentials:exchange`. The rate is counted by token.',
        body: CredentialExchange,
        response: { 200: ExchangedCredential },
      },
    },
    async (request, reply) => {
      reply.headers({ 'cache-control': 'no-store', pragma: 'no-cache' });
      return exchangeCredential(deps, holderOf(request), request.body);
    },
  );
};
