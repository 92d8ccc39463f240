import { NoFields } from '@behest/protocol/shapes';
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { callerOf } from '../../../platform/http/callers/credentials.ts';
import { depsFor } from '../../../platform/http/idempotency/idempotency.ts';
import { rateRules } from '../../../platform/http/limits/rate-rules.ts';
import {
  AuthorizationCode,
  AuthorizationInput,
  AuthorizationRequest,
  AuthorizationRequestPath,
  ConsentLink,
  CreatedAuthorizationRequest,
  RequestPage,
  RequestQuery,
  SandboxDecision,
} from './authorization.schema.ts';
import type { AuthorizationDeps } from './deps.ts';
import {
  approveInSandbox,
  cancelRequest,
  createCode,
  createLink,
  denyInSandbox,
  getRequest,
  listRequests,
} from './manage.ts';
import { requestConsent } from './request.ts';

export const rates = rateRules({
  authorize: {
    perMinute: 10,
    describes: '`POST /v1/authorize`, by developer',
    counts: [{ by: 'developer' }],
  },
});

export const authorizationRoutes: FastifyPluginAsyncTypebox<AuthorizationDeps> = async (app, deps) => {
  app.post(
    '/v1/authorize',
    {
      config: {
        metered: 'authorizations',
        access: 'developer',
        capability: 'never',
        sandboxCapability: 'operate',
        role: 'runtime',
        boundKeys: 'own agents',
        rate: rates.authorize,
        failures: [
          'INVALID_SCOPE',
          'INVALID_PURPOSE',
          'INVALID_REDIRECT_URI',
          'NOT_FOUND',
          'AGENT_INACTIVE',
          'GRANT_INACTIVE',
          'PRINCIPAL_INACTIVE',
          'CONFLICT',
          'PLAN_LIMIT_EXCEEDED',
          'POLICY_DENIED',
        ],
      },
      schema: {
        operationId: 'authorization.request',
        summary: 'Ask a principal for consent',
        description:
          'Send the person to `consentUrl`. In the sandbox the answer has the `code` already, unless `autoApprove` is false.',
        body: AuthorizationInput,
        response: { 201: CreatedAuthorizationRequest },
      },
    },
    async (request, reply) =>
      reply.code(201).send(await requestConsent(depsFor(request, deps), callerOf(request), request.body)),
  );

  app.get(
    '/v1/authorize',
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
        operationId: 'authorization.list',
        summary: 'List authorization requests, newest first',
        description:
          'A page looks at 2,000 requests at most. It may be short, or empty, and the list goes on while there is a `nextCursor`.',
        querystring: RequestQuery,
        response: { 200: RequestPage },
      },
    },
    (request) => listRequests(deps, callerOf(request), request.query),
  );

  app.get(
    '/v1/authorize/:id',
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
        operationId: 'authorization.get',
        summary: 'Read an authorization request',
        params: AuthorizationRequestPath,
        response: { 200: AuthorizationRequest },
      },
    },
    (request) => getRequest(deps, callerOf(request), request.params.id),
  );

  app.delete(
    '/v1/authorize/:id',
    {
      config: {
        access: 'developer',
        capability: 'operate',
        role: 'runtime',
        boundKeys: 'own agents',
        rate: 'default',
        failures: ['NOT_FOUND', 'GONE'],
      },
      schema: {
        operationId: 'authorization.cancel',
        summary: 'Cancel an open authorization request',
        params: AuthorizationRequestPath,
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      await cancelRequest(deps, callerOf(request), request.params.id);
      return reply.code(204).send(null);
    },
  );

  app.post(
    '/v1/authorize/:id/code',
    {
      config: {
        access: 'developer',
        capability: 'never',
        sandboxCapability: 'operate',
        role: 'runtime',
        boundKeys: 'own agents',
        rate: 'default',
        failures: ['NOT_FOUND', 'CONFLICT', 'GONE'],
      },
      schema: {
        operationId: 'authorization.code',
        summary: 'Get a code for an approved request without a redirect URI',
        params: AuthorizationRequestPath,
        body: NoFields,
        response: { 201: AuthorizationCode },
      },
    },
    async (request, reply) =>
      reply.code(201).send(await createCode(depsFor(request, deps), callerOf(request), request.params.id)),
  );

  app.post(
    '/v1/authorize/:id/link',
    {
      config: {
        access: 'developer',
        capability: 'never',
        sandboxCapability: 'operate',
        role: 'full',
        rate: 'default',
        failures: ['NOT_FOUND', 'GONE'],
      },
      schema: {
        operationId: 'authorization.link',
        summary: 'Get a new link to the consent page for a pending request',
        description: 'The link before opens nothing from then on.',
        params: AuthorizationRequestPath,
        body: NoFields,
        response: { 201: ConsentLink },
      },
    },
    async (request, reply) =>
      reply.code(201).send(await createLink(depsFor(request, deps), callerOf(request), request.params.id)),
  );

  app.post(
    '/v1/authorize/:id/approve',
    {
      config: {
        access: 'developer',
        capability: 'never',
        sandboxCapability: 'operate',
        role: 'runtime',
        boundKeys: 'own agents',
        rate: 'default',
        failures: ['NOT_FOUND', 'CONSENT_REQUIRED', 'POLICY_DENIED', 'PRINCIPAL_INACTIVE'],
      },
      schema: {
        operationId: 'authorization.approve',
        summary: 'Approve an authorization request in the sandbox',
        params: AuthorizationRequestPath,
        body: NoFields,
        response: { 200: SandboxDecision },
      },
    },
    (request) => approveInSandbox(depsFor(request, deps), callerOf(request), request.params.id),
  );

  app.post(
    '/v1/authorize/:id/deny',
    {
      config: {
        access: 'developer',
        capability: 'never',
        sandboxCapability: 'operate',
        role: 'runtime',
        boundKeys: 'own agents',
        rate: 'default',
        failures: ['NOT_FOUND', 'CONSENT_REQUIRED'],
      },
      schema: {
        operationId: 'authorization.deny',
        summary: 'Deny an authorization request in the sandbox',
        params: AuthorizationRequestPath,
        body: NoFields,
        response: { 200: SandboxDecision },
      },
    },
    (request) => denyInSandbox(depsFor(request, deps), callerOf(request), request.params.id),
  );
};
