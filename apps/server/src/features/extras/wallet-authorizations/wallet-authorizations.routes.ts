import { NoFields } from '@behest/protocol/shapes';
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { callerOf } from '../../../platform/http/callers/credentials.ts';
import { depsFor } from '../../../platform/http/idempotency/idempotency.ts';
import { credentialRates } from '../verifiable-credentials/index.ts';
import {
  authorizationVerifier,
  consumeAuthorization,
  getAuthorization,
  issueAuthorization,
  listAuthorizations,
  revokeAuthorization,
  type WalletDeps,
} from './authorize.ts';
import {
  AuthorizationPath,
  AuthorizationQuery,
  IssuedWalletAuthorization,
  NewWalletAuthorization,
  VerifyWalletAuthorizationRequest,
  WalletAuthorization,
  WalletAuthorizationPage,
  WalletAuthorizationVerification,
} from './wallet-authorizations.schema.ts';

/** Shared with the other statements that anybody verifies. */
const verifyRate = credentialRates.credentialVerify;

const ofAgents = { access: 'developer', role: 'runtime', boundKeys: 'own agents', rate: 'default' } as const;

export const walletRoutes: FastifyPluginAsyncTypebox<WalletDeps> = async (app, deps) => {
  const verify = authorizationVerifier(deps);

  app.post(
    '/v1/wallet/authorizations',
    {
      config: {
        ...ofAgents,
        capability: 'never',
        failures: ['NOT_FOUND', 'GRANT_INACTIVE', 'AGENT_INACTIVE', 'SCOPE_INSUFFICIENT'],
      },
      schema: {
        operationId: 'walletAuthorizations.issue',
        summary: 'Issue an authorization for one payment',
        body: NewWalletAuthorization,
        response: { 201: IssuedWalletAuthorization },
      },
    },
    async (request, reply) =>
      reply.code(201).send(await issueAuthorization(depsFor(request, deps), callerOf(request), request.body)),
  );

  app.get(
    '/v1/wallet/authorizations',
    {
      config: { ...ofAgents, capability: 'read', failures: [] },
      schema: {
        operationId: 'walletAuthorizations.list',
        summary: 'List authorizations, newest first',
        querystring: AuthorizationQuery,
        response: { 200: WalletAuthorizationPage },
      },
    },
    (request) => listAuthorizations(deps, callerOf(request), request.query),
  );

  app.get(
    '/v1/wallet/authorizations/:id',
    {
      config: { ...ofAgents, capability: 'read', failures: ['NOT_FOUND'] },
      schema: {
        operationId: 'walletAuthorizations.get',
        summary: 'Get an authorization',
        params: AuthorizationPath,
        response: { 200: WalletAuthorization },
      },
    },
    (request) => getAuthorization(deps, callerOf(request), request.params.id),
  );

  app.post(
    '/v1/wallet/authorizations/:id/revoke',
    {
      config: { ...ofAgents, capability: 'operate', failures: ['NOT_FOUND'] },
      schema: {
        operationId: 'walletAuthorizations.revoke',
        summary: 'Revoke an authorization',
        params: AuthorizationPath,
        body: NoFields,
        response: { 200: WalletAuthorization },
      },
    },
    (request) => revokeAuthorization(depsFor(request, deps), callerOf(request), request.params.id),
  );

  app.post(
    '/v1/wallet/authorizations/:id/consume',
    {
      config: {
        ...ofAgents,
        capability: 'never',
        failures: ['NOT_FOUND', 'AGENT_INACTIVE', 'ALREADY_CONSUMED', 'GONE'],
      },
      schema: {
        operationId: 'walletAuthorizations.consume',
        summary: 'Use an authorization, once',
        params: AuthorizationPath,
        body: NoFields,
        response: { 200: WalletAuthorization },
      },
    },
    (request) => consumeAuthorization(depsFor(request, deps), callerOf(request), request.params.id),
  );

  app.post(
    '/v1/wallet/authorizations/verify',
    {
      config: { access: 'none', rate: verifyRate, failures: [] },
      schema: {
        operationId: 'walletAuthorizations.verify',
        summary: 'Verify an authorization',
        body: VerifyWalletAuthorizationRequest,
        response: { 200: WalletAuthorizationVerification },
      },
    },
    (request) => verify(request.body.authorization),
  );
};
