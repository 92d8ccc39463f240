import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { callerOf, holderOf, sessionOf } from '../../../platform/http/callers/credentials.ts';
import { depsFor } from '../../../platform/http/idempotency/idempotency.ts';
import {
  askAsAgent,
  askAsPerson,
  askForConnection,
  cancelSession,
  disconnectOwn,
  getSession,
  listOwnConnections,
} from './ask.ts';
import { rates } from './connections.rates.ts';
import {
  AskByAgent,
  ConnectPath,
  ConnectSession,
  CreatedConnectSession,
  NewConnectSession,
  OwnConnectionPage,
  OwnQuery,
} from './connections.schema.ts';
import type { ConnectDeps } from './deps.ts';

/** The refusals of a new session. */
const refusals = ['INVALID_SCOPE', 'NOT_FOUND', 'CONFLICT', 'PRINCIPAL_INACTIVE', 'NOT_CONFIGURED'] as const;

export const askRoutes: FastifyPluginAsyncTypebox<ConnectDeps> = async (app, deps) => {
  app.post(
    '/v1/vault/connect-sessions',
    {
      config: {
        access: 'developer',
        capability: 'never',
        role: 'runtime',
        boundKeys: 'forbidden',
        rate: rates.connectCreate,
        failures: [...refusals, 'INVALID_REDIRECT_URI'],
      },
      schema: {
        operationId: 'connections.ask',
        summary: 'Make a link by which a person connects an account',
        description:
          'The link opens a page on which the person proves to be the principal, and sees who connects what for whom. The key proves nothing there.',
        body: NewConnectSession,
        response: { 201: CreatedConnectSession },
      },
    },
    async (request, reply) =>
      reply.code(201).send(await askForConnection(depsFor(request, deps), callerOf(request), request.body)),
  );

  app.get(
    '/v1/vault/connect-sessions/:id',
    {
      config: {
        access: 'developer',
        capability: 'read',
        role: 'runtime',
        boundKeys: 'forbidden',
        rate: 'default',
        failures: ['NOT_FOUND'],
      },
      schema: {
        operationId: 'connections.get',
        summary: 'Read a connect session',
        params: ConnectPath,
        response: { 200: ConnectSession },
      },
    },
    (request) => getSession(deps, callerOf(request), request.params.id),
  );

  app.delete(
    '/v1/vault/connect-sessions/:id',
    {
      config: {
        access: 'developer',
        capability: 'operate',
        role: 'runtime',
        boundKeys: 'forbidden',
        rate: rates.connectCreate,
        failures: ['NOT_FOUND', 'GONE'],
      },
      schema: {
        operationId: 'connections.cancel',
        summary: 'Cancel a connect session from which nothing came back yet',
        params: ConnectPath,
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      await cancelSession(deps, callerOf(request), request.params.id);
      return reply.code(204).send(null);
    },
  );

  app.post(
    '/v1/vault/credentials/connect',
    {
      config: { access: 'grant', rate: rates.connectAsk, failures: [...refusals, 'FORBIDDEN'] },
      schema: {
        operationId: 'connections.askAsAgent',
        summary: "Make a link by which the grant token's principal connects an account",
        description:
          'The token needs a scope that allows the exchange of this service, or `vault:<service>:proxy`.',
        body: AskByAgent,
        response: { 201: CreatedConnectSession },
      },
    },
    async (request, reply) => reply.code(201).send(await askAsAgent(deps, holderOf(request), request.body)),
  );

  app.get(
    '/v1/vault/credentials/connect/:id',
    {
      config: { access: 'grant', rate: rates.connectWatch, failures: ['NOT_FOUND'] },
      schema: {
        operationId: 'connections.getAsAgent',
        summary: "Read a connect session of the grant token's principal",
        params: ConnectPath,
        response: { 200: ConnectSession },
      },
    },
    (request) => {
      const holder = holderOf(request);
      return getSession(deps, holder, request.params.id, holder.principalId);
    },
  );

  app.post(
    '/v1/principal/connections',
    {
      config: { access: 'session', rate: 'default', failures: [...refusals] },
      schema: {
        operationId: 'connections.askAsPerson',
        summary: 'Make a link by which the principal connects an account, or connects it again',
        body: AskByAgent,
        response: { 201: CreatedConnectSession },
      },
    },
    async (request, reply) => reply.code(201).send(await askAsPerson(deps, sessionOf(request), request.body)),
  );

  app.get(
    '/v1/principal/connections',
    {
      config: { access: 'session', rate: 'default', failures: [] },
      schema: {
        operationId: 'connections.own',
        summary: "List the principal's connected accounts, newest first",
        querystring: OwnQuery,
        response: { 200: OwnConnectionPage },
      },
    },
    (request) => listOwnConnections(deps, sessionOf(request), request.query),
  );

  app.delete(
    '/v1/principal/connections/:id',
    {
      config: { access: 'session', rate: 'default', failures: ['NOT_FOUND'] },
      schema: {
        operationId: 'connections.disconnect',
        summary: 'Disconnect an account, and revoke its tokens at the upstream',
        params: ConnectPath,
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      await disconnectOwn(deps, sessionOf(request), request.params.id);
      return reply.code(204).send(null);
    },
  );
};
