import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { callerOf } from '../../../platform/http/callers/credentials.ts';
import { depsFor } from '../../../platform/http/idempotency/idempotency.ts';
import { admit, getPrincipal, listPrincipals, type OffboardingDeps, offboard } from './offboard.ts';
import {
  EndedAgentPath,
  OffboardInput,
  Offboarding,
  OffboardingProof,
  PrincipalPage,
  PrincipalPath,
  PrincipalQuery,
  PrincipalSummary,
} from './offboarding.schema.ts';
import { getOffboarding } from './statement.ts';

export const offboardingRoutes: FastifyPluginAsyncTypebox<OffboardingDeps> = async (app, deps) => {
  app.get(
    '/v1/principals',
    {
      config: { access: 'developer', capability: 'read', role: 'full', rate: 'default', failures: [] },
      schema: {
        operationId: 'principals.list',
        summary: 'Find the principals who hold something, by the beginning of their ids',
        querystring: PrincipalQuery,
        response: { 200: PrincipalPage },
      },
    },
    (request) => listPrincipals(deps, callerOf(request), request.query),
  );

  app.get(
    '/v1/principals/:principalId',
    {
      config: {
        access: 'developer',
        capability: 'read',
        role: 'full',
        rate: 'default',
        failures: ['NOT_FOUND'],
      },
      schema: {
        operationId: 'principals.get',
        summary: 'Read what the account has of a principal, and what an offboarding would end',
        params: PrincipalPath,
        response: { 200: PrincipalSummary },
      },
    },
    (request) => getPrincipal(deps, callerOf(request), request.params.principalId),
  );

  app.post(
    '/v1/principals/:principalId/offboard',
    {
      config: {
        access: 'developer',
        capability: 'operate',
        role: 'full',
        rate: 'default',
        failures: ['NOT_FOUND'],
      },
      schema: {
        operationId: 'principals.offboard',
        summary: 'End all grants, requests and sessions of a principal, and remove their credentials',
        params: PrincipalPath,
        body: OffboardInput,
        response: { 200: Offboarding },
      },
    },
    (request) =>
      offboard(depsFor(request, deps), callerOf(request), request.params.principalId, request.body),
  );

  app.get(
    '/v1/principals/:principalId/offboarding',
    {
      config: {
        access: 'developer',
        capability: 'read',
        role: 'full',
        rate: 'default',
        failures: ['NOT_FOUND'],
      },
      schema: {
        operationId: 'principals.offboarding',
        summary: 'Get a signed statement that nothing of an offboarded principal was left',
        params: PrincipalPath,
        response: { 200: OffboardingProof },
      },
    },
    (request) =>
      getOffboarding(deps, callerOf(request), {
        kind: 'principal',
        subjectId: request.params.principalId,
      }),
  );

  app.delete(
    '/v1/principals/:principalId/offboarding',
    {
      config: {
        access: 'developer',
        capability: 'operate',
        role: 'full',
        rate: 'default',
        failures: ['NOT_FOUND'],
      },
      schema: {
        operationId: 'principals.admit',
        summary: 'Let agents ask an offboarded principal again; nothing that ended comes back',
        params: PrincipalPath,
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      await admit(deps, callerOf(request), request.params.principalId);
      return reply.code(204).send(null);
    },
  );

  app.get(
    '/v1/agents/:id/offboarding',
    {
      config: {
        access: 'developer',
        capability: 'read',
        role: 'full',
        rate: 'default',
        failures: ['NOT_FOUND'],
      },
      schema: {
        operationId: 'agents.offboarding',
        summary: 'Get a signed statement that nothing of a revoked agent was left',
        params: EndedAgentPath,
        response: { 200: OffboardingProof },
      },
    },
    (request) => getOffboarding(deps, callerOf(request), { kind: 'agent', subjectId: request.params.id }),
  );
};
