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

/** Who may read what is kept of a person or an agent, and who may end it. */
const reads = {
  access: 'developer',
  capability: 'read',
  role: 'full',
  rate: 'default',
  failures: ['NOT_FOUND'],
} as const;
const writes = { ...reads, capability: 'operate' } as const;

export const offboardingRoutes: FastifyPluginAsyncTypebox<OffboardingDeps> = async (app, deps) => {
  app.get(
    '/v1/principals',
    {
      config: { ...reads, failures: [] },
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
      config: reads,
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
      config: writes,
      schema: {
        operationId: 'principals.offboard',
        summary: 'End all that agents hold of a person, under every id, and remove their credentials',
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
      config: reads,
      schema: {
        operationId: 'principals.offboarding',
        summary: 'Get a signed statement that nothing of an offboarded person was left',
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
      config: writes,
      schema: {
        operationId: 'principals.admit',
        summary: 'Let agents ask an offboarded person again, under every id; nothing that ended comes back',
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
      config: reads,
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
