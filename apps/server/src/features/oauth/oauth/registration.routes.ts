import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { rates } from './oauth.rates.ts';
import { ClientMetadata, RegisteredClient, RegistrationPath } from './registration.schema.ts';
import {
  type RegistrationDeps,
  readRegistration,
  registerClient,
  removeRegistration,
  replaceRegistration,
} from './registration.ts';

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
        response: { 201: RegisteredClient },
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
        response: { 200: RegisteredClient },
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
        response: { 200: RegisteredClient },
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
