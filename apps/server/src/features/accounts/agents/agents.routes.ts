import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { callerOf } from '../../../platform/http/callers/credentials.ts';
import { depsFor } from '../../../platform/http/idempotency/idempotency.ts';
import {
  Agent,
  AgentChange,
  AgentPage,
  AgentPath,
  AgentQuery,
  DidDocument,
  NewAgent,
} from './agents.schema.ts';
import {
  type AgentDeps,
  changeAgent,
  createAgent,
  getAgent,
  getDidDocument,
  listAgents,
  revokeAgent,
} from './manage.ts';

/** Whether a change says who the agent is, or what it may ask for. */
const givesIdentity = (body: unknown): boolean =>
  ['publicKeyJwk', 'scopes'].some((name) => Object(body)[name] !== undefined);

export const agentRoutes: FastifyPluginAsyncTypebox<AgentDeps> = async (app, deps) => {
  app.post(
    '/v1/agents',
    {
      config: {
        access: 'developer',
        capability: 'operate',
        role: 'full',
        rate: 'default',
        failures: ['INVALID_SCOPE', 'PLAN_LIMIT_EXCEEDED'],
      },
      schema: {
        operationId: 'agents.create',
        summary: 'Register an agent',
        body: NewAgent,
        response: { 201: Agent },
      },
    },
    async (request, reply) =>
      reply.code(201).send(await createAgent(depsFor(request, deps), callerOf(request), request.body)),
  );

  app.get(
    '/v1/agents',
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
        operationId: 'agents.list',
        summary: 'List agents, newest first',
        querystring: AgentQuery,
        response: { 200: AgentPage },
      },
    },
    (request) => listAgents(deps, callerOf(request), request.query),
  );

  app.get(
    '/v1/agents/:id',
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
        operationId: 'agents.get',
        summary: 'Read an agent, whatever its status',
        params: AgentPath,
        response: { 200: Agent },
      },
    },
    (request) => getAgent(deps, callerOf(request), request.params.id),
  );

  app.patch(
    '/v1/agents/:id',
    {
      config: {
        access: 'developer',
        capability: 'operate',
        capabilityFor: (body) => (givesIdentity(body) ? 'configure' : undefined),
        stepUp: givesIdentity,
        role: 'full',
        rate: 'default',
        failures: ['INVALID_SCOPE', 'NOT_FOUND', 'AGENT_INACTIVE'],
      },
      schema: {
        operationId: 'agents.change',
        summary: 'Change an agent; suspend or resume it',
        params: AgentPath,
        body: AgentChange,
        response: { 200: Agent },
      },
    },
    (request) => changeAgent(depsFor(request, deps), callerOf(request), request.params.id, request.body),
  );

  app.delete(
    '/v1/agents/:id',
    {
      config: {
        access: 'developer',
        capability: 'operate',
        role: 'full',
        rate: 'default',
        failures: ['NOT_FOUND'],
      },
      schema: {
        operationId: 'agents.revoke',
        summary: 'Revoke an agent and everything granted to it',
        params: AgentPath,
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      await revokeAgent(deps, callerOf(request), request.params.id);
      return reply.code(204).send(null);
    },
  );

  app.get(
    '/agents/:id/did.json',
    {
      // Of a DID that is deactivated, a resolver in a browser must read the refusal.
      config: { access: 'none', rate: 'default', isPublic: true, failures: ['NOT_FOUND', 'GONE'] },
      schema: {
        operationId: 'agents.did',
        summary: "An agent's DID document",
        params: AgentPath,
        response: { 200: DidDocument },
      },
    },
    async (request, reply) => {
      const document = await getDidDocument(
        deps,
        request.params.id,
        request.headers.host?.toLowerCase() ?? '',
      );
      return reply
        .serializer(JSON.stringify) // Fastify's own serializer adds a charset, which this media type does not have
        .headers({ 'content-type': 'application/did+json', 'cache-control': 'public, max-age=300' })
        .send(document);
    },
  );
};
