import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { callerOf } from '../../../platform/http/callers/credentials.ts';
import { depsFor } from '../../../platform/http/idempotency/idempotency.ts';
import { addWorkload, listWorkloads, removeWorkload, type WorkloadDeps } from './trust.ts';
import {
  AgentPath,
  NewWorkload,
  Workload,
  WorkloadPage,
  WorkloadPath,
  WorkloadQuery,
} from './workloads.schema.ts';

const own = { access: 'developer', role: 'full', rate: 'default' } as const;

export const workloadRoutes: FastifyPluginAsyncTypebox<WorkloadDeps> = async (app, deps) => {
  app.post(
    '/v1/agents/:id/workloads',
    {
      config: {
        ...own,
        capability: 'configure',
        stepUp: true,
        failures: ['NOT_FOUND', 'DISCOVERY_FAILED', 'CONFLICT'],
      },
      schema: {
        operationId: 'workloads.add',
        summary: 'Trust the JWTs of an issuer to identify an agent',
        description:
          'The agent then shows such a JWT at `POST /oauth/token` as its `client_assertion`, once its `authMethod` is `workload_jwt`.',
        params: AgentPath,
        body: NewWorkload,
        response: { 201: Workload },
      },
    },
    async (request, reply) =>
      reply
        .code(201)
        .send(await addWorkload(depsFor(request, deps), callerOf(request), request.params.id, request.body)),
  );

  app.get(
    '/v1/agents/:id/workloads',
    {
      config: { ...own, capability: 'read', failures: ['NOT_FOUND'] },
      schema: {
        operationId: 'workloads.list',
        summary: 'List the issuers that identify an agent, newest first',
        params: AgentPath,
        querystring: WorkloadQuery,
        response: { 200: WorkloadPage },
      },
    },
    (request) => listWorkloads(deps, callerOf(request), request.params.id, request.query),
  );

  app.delete(
    '/v1/agents/:id/workloads/:workloadId',
    {
      config: { ...own, capability: 'configure', failures: ['NOT_FOUND'] },
      schema: {
        operationId: 'workloads.remove',
        summary: 'Trust an issuer no longer',
        params: WorkloadPath,
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      const { id: agentId, workloadId } = request.params;
      await removeWorkload(deps, callerOf(request), { agentId, workloadId });
      return reply.code(204).send(null);
    },
  );
};
