import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { callerOf } from '../../../platform/http/callers/credentials.ts';
import { rates } from './oauth.rates.ts';
import {
  ClientInformationResponse,
  ClientMetadata,
  ClientPath,
  OAuthClient,
  OAuthClientSettings,
  RegistrationPath,
} from './oauth.schema.ts';
import {
  type RegistrationDeps,
  readRegistration,
  registerClient,
  removeRegistration,
  replaceRegistration,
} from './registration.ts';
import { type ClientDeps, deleteSettings, getSettings, putSettings } from './settings.ts';

const open = {
  access: 'none',
  rate: rates.oauthRegister,
  errors: 'oauth',
  fromAnyOrigin: true,
  failures: [],
} as const;
const managed = { ...open, failures: ['UNAUTHORIZED'] } as const;

/** The routes by which clients register themselves. Where the operator has switched them off, they are not there. */
export const registrationRoutes: FastifyPluginAsyncTypebox<RegistrationDeps> = async (app, deps) => {
  app.post(
    '/oauth/register',
    {
      config: open,
      schema: {
        operationId: 'oauth.register',
        summary: 'Register a client (RFC 7591)',
        description:
          'Anybody may register a client. It gets nothing by that: a person approves it at each developer. A client that is not used for a day after that, or for 90 days later, is deleted.',
        body: ClientMetadata,
        response: { 201: ClientInformationResponse },
      },
    },
    async (request, reply) => reply.code(201).send(await registerClient(deps, request.body)),
  );

  app.get(
    '/oauth/register/:clientId',
    {
      config: managed,
      schema: {
        operationId: 'oauth.readRegistration',
        summary: 'Read a registration (RFC 7592)',
        description: 'The bearer is the `registration_access_token`.',
        params: RegistrationPath,
        response: { 200: ClientInformationResponse },
      },
    },
    ({ params, headers }) => readRegistration(deps, params.clientId, headers.authorization),
  );

  app.put(
    '/oauth/register/:clientId',
    {
      config: managed,
      schema: {
        operationId: 'oauth.replaceRegistration',
        summary: 'Replace a registration (RFC 7592)',
        params: RegistrationPath,
        body: ClientMetadata,
        response: { 200: ClientInformationResponse },
      },
    },
    ({ params, headers: { authorization }, body: metadata }) =>
      replaceRegistration(deps, params.clientId, { authorization, metadata }),
  );

  app.delete(
    '/oauth/register/:clientId',
    {
      config: managed,
      schema: {
        operationId: 'oauth.removeRegistration',
        summary: 'Remove a registration (RFC 7592)',
        params: RegistrationPath,
        response: { 204: Type.Null() },
      },
    },
    async ({ params, headers }, reply) => {
      await removeRegistration(deps, params.clientId, headers.authorization);
      return reply.code(204).send(null);
    },
  );
};

const full = { access: 'developer', role: 'full', rate: 'default' } as const;

/** The routes by which a developer makes an agent an OAuth client. */
export const clientSettingsRoutes: FastifyPluginAsyncTypebox<ClientDeps> = async (app, deps) => {
  app.put(
    '/v1/agents/:id/oauth',
    {
      config: {
        ...full,
        capability: 'configure',
        stepUp: true,
        failures: ['NOT_FOUND', 'INVALID_REDIRECT_URI', 'AGENT_INACTIVE', 'CONFLICT'],
      },
      schema: {
        operationId: 'oauth.putClient',
        summary: 'Make an agent an OAuth client',
        description: 'Its `client_id` is the id of the agent. A secret is shown once, when it is made.',
        params: ClientPath,
        body: OAuthClientSettings,
        response: { 200: OAuthClient },
      },
    },
    (request) => putSettings(deps, callerOf(request), request.params.id, request.body),
  );

  app.get(
    '/v1/agents/:id/oauth',
    {
      config: { ...full, capability: 'read', failures: ['NOT_FOUND'] },
      schema: {
        operationId: 'oauth.getClient',
        summary: 'Read how an agent is an OAuth client, without its secret',
        params: ClientPath,
        response: { 200: OAuthClient },
      },
    },
    (request) => getSettings(deps, callerOf(request), request.params.id),
  );

  app.delete(
    '/v1/agents/:id/oauth',
    {
      config: { ...full, capability: 'configure', failures: ['NOT_FOUND', 'AGENT_INACTIVE'] },
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
