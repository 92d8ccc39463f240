import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { callerOf } from '../../../platform/http/callers/credentials.ts';
import { ClientPath, ClientRecord, ClientSettings } from './oauth.schema.ts';
import { type ClientDeps, deleteSettings, getSettings, putSettings } from './settings.ts';

const full = { access: 'developer', role: 'full', rate: 'default' } as const;

/** The routes by which a developer makes an agent an OAuth client. */
export const clientSettingsRoutes: FastifyPluginAsyncTypebox<ClientDeps> = async (app, deps) => {
  app.put(
    '/v1/agents/:id/oauth',
    {
      config: { ...full, failures: ['NOT_FOUND', 'INVALID_REDIRECT_URI', 'AGENT_INACTIVE', 'CONFLICT'] },
      schema: {
        operationId: 'oauth.putClient',
        summary: 'Make an agent an OAuth client',
        description: 'Its `client_id` is the id of the agent. A secret is shown once, when it is made.',
        params: ClientPath,
        body: ClientSettings,
        response: { 200: ClientRecord },
      },
    },
    (request) => putSettings(deps, callerOf(request), request.params.id, request.body),
  );

  app.get(
    '/v1/agents/:id/oauth',
    {
      config: { ...full, failures: ['NOT_FOUND'] },
      schema: {
        operationId: 'oauth.getClient',
        summary: 'Read how an agent is an OAuth client, without its secret',
        params: ClientPath,
        response: { 200: ClientRecord },
      },
    },
    (request) => getSettings(deps, callerOf(request), request.params.id),
  );

  app.delete(
    '/v1/agents/:id/oauth',
    {
      config: { ...full, failures: ['NOT_FOUND', 'AGENT_INACTIVE'] },
      schema: {
        operationId: 'oauth.deleteClient',
        summary: 'Let an agent be no OAuth client any longer',
        params: ClientPath,
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      await deleteSettings(deps, callerOf(request), request.params.id);
      return reply.code(204).send(null);
    },
  );
};
