import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { callerOf } from '../../../platform/http/callers/credentials.ts';
import { proofOf } from '../../../platform/http/callers/grant.ts';
import { depsFor } from '../../../platform/http/idempotency/idempotency.ts';
import { rateRules } from '../../../platform/http/limits/rate-rules.ts';
import { type DelegateDeps, delegate } from './delegate.ts';
import { exchangeCode } from './exchange.ts';
import { listTokens } from './list.ts';
import { currentNonce, type ProofDeps, provedKey } from './proof.ts';
import { refreshTokens } from './refresh.ts';
import { revokeToken } from './revoke.ts';
import {
  CodeExchange,
  DelegatedTokens,
  DelegationRequest,
  ExchangedTokens,
  GrantPath,
  GrantVerification,
  IntrospectTokenRequest,
  IssuedTokens,
  RefreshTokenRequest,
  RevokeTokenRequest,
  TokenIntrospection,
  TokenPage,
  TokenQuery,
  TokenVerification,
  VerifyGrantRequest,
  VerifyTokenRequest,
} from './tokens.schema.ts';
import { introspectToken, verifyGrant, verifyToken } from './verify.ts';

export const rates = rateRules({
  token: {
    perMinute: 20,
    describes: '`POST /v1/token`, by developer',
    counts: [{ by: 'developer' }],
  },
  refresh: {
    perMinute: 20,
    describes: '`POST /v1/token/refresh`, by developer',
    counts: [{ by: 'developer' }],
  },
});

export const tokenRoutes: FastifyPluginAsyncTypebox<DelegateDeps & ProofDeps> = async (app, deps) => {
  app.post(
    '/v1/token',
    {
      config: {
        metered: 'tokenExchanges',
        access: 'developer',
        capability: 'never',
        sandboxCapability: 'operate',
        role: 'runtime',
        boundKeys: 'own agents',
        rate: rates.token,
        failures: ['INVALID_GRANT', 'PLAN_LIMIT_EXCEEDED', 'POLICY_DENIED', 'PRINCIPAL_INACTIVE'],
      },
      schema: {
        operationId: 'tokens.exchange',
        summary: 'Exchange an authorization code for a grant token',
        body: CodeExchange,
        response: { 201: ExchangedTokens },
      },
    },
    async (request, reply) =>
      reply.code(201).send(await exchangeCode(depsFor(request, deps), callerOf(request), request.body)),
  );

  app.post(
    '/v1/token/refresh',
    {
      config: {
        access: 'developer',
        capability: 'never',
        role: 'runtime',
        boundKeys: 'own agents',
        rate: rates.refresh,
        failures: ['INVALID_GRANT', 'POLICY_DENIED', 'PRINCIPAL_INACTIVE'],
      },
      schema: {
        operationId: 'tokens.refresh',
        summary: 'Exchange a refresh token for new tokens',
        body: RefreshTokenRequest,
        response: { 201: IssuedTokens },
      },
    },
    async (request, reply) =>
      reply.code(201).send(await refreshTokens(depsFor(request, deps), callerOf(request), request.body)),
  );

  app.post(
    '/v1/grants/delegate',
    {
      config: {
        access: 'developer',
        capability: 'never',
        role: 'runtime',
        boundKeys: 'own agents',
        rate: 'default',
        failures: [
          'INVALID_GRANT',
          'CURRENCY_MISMATCH',
          'INSUFFICIENT_BUDGET',
          'INVALID_SCOPE',
          'INVALID_PURPOSE',
          'DELEGATION_DEPTH_EXCEEDED',
          'NOT_FOUND',
          'AGENT_INACTIVE',
          'PRINCIPAL_INACTIVE',
          'POLICY_DENIED',
          'PLAN_LIMIT_EXCEEDED',
        ],
      },
      schema: {
        operationId: 'grants.delegate',
        summary: 'Give a part of a grant to another agent',
        description:
          'The new grant reaches no further than its parent. It ends with the parent at the latest, and is revoked with it. A parent token that is bound to a key needs a `DPoP` proof of that key.',
        body: DelegationRequest,
        response: { 201: DelegatedTokens },
      },
    },
    async (request, reply) => {
      if (deps.demandsNonce) reply.header('dpop-nonce', currentNonce(deps));
      const proof = { provedKey: await provedKey(deps, proofOf(request)) };
      return reply
        .code(201)
        .send(await delegate(depsFor(request, deps), callerOf(request), request.body, proof));
    },
  );

  app.get(
    '/v1/grants/:id/tokens',
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
        operationId: 'grants.tokens',
        summary: 'List the tokens of a grant, newest first; never their text',
        params: GrantPath,
        querystring: TokenQuery,
        response: { 200: TokenPage },
      },
    },
    (request) => listTokens(deps, callerOf(request), request.params.id, request.query),
  );

  app.post(
    '/v1/tokens/verify',
    {
      config: {
        metered: 'verifications',
        access: 'developer',
        capability: 'read',
        role: 'runtime',
        boundKeys: 'own agents',
        rate: 'default',
        failures: [],
      },
      schema: {
        operationId: 'tokens.verify',
        summary: 'Ask whether a grant token is valid now',
        body: VerifyTokenRequest,
        response: { 200: TokenVerification },
      },
    },
    (request) => verifyToken(depsFor(request, deps), callerOf(request), request.body),
  );

  app.post(
    '/v1/grants/verify',
    {
      config: {
        metered: 'verifications',
        access: 'developer',
        capability: 'read',
        role: 'runtime',
        boundKeys: 'own agents',
        rate: 'default',
        failures: [],
      },
      schema: {
        operationId: 'grants.verify',
        summary: 'Ask whether a grant token is valid now, with the older answer',
        body: VerifyGrantRequest,
        response: { 200: GrantVerification },
      },
    },
    (request) => verifyGrant(depsFor(request, deps), callerOf(request), request.body.token),
  );

  app.post(
    '/v1/tokens/revoke',
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
        operationId: 'tokens.revoke',
        summary: 'Revoke one grant token, by its id or its text',
        body: RevokeTokenRequest,
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      await revokeToken(depsFor(request, deps), callerOf(request), request.body);
      return reply.code(204).send(null);
    },
  );

  app.post(
    '/v1/tokens/introspect',
    {
      config: {
        metered: 'verifications',
        access: 'developer',
        capability: 'read',
        role: 'runtime',
        boundKeys: 'own agents',
        rate: 'default',
        failures: [],
        errors: 'oauth',
        takesForm: true,
      },
      schema: {
        operationId: 'tokens.introspect',
        summary: 'Introspect a token (RFC 7662)',
        body: IntrospectTokenRequest,
        response: { 200: TokenIntrospection },
      },
    },
    (request) => introspectToken(depsFor(request, deps), callerOf(request), request.body.token),
  );
};
