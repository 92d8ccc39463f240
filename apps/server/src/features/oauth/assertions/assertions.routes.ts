import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { callerOf, sessionOf } from '../../../platform/http/callers/credentials.ts';
import { depsFor } from '../../../platform/http/idempotency/idempotency.ts';
import { rateRules } from '../../../platform/http/limits/rate-rules.ts';
import {
  AssertionStopPage,
  AssertionStopPath,
  AssertionStopQuery,
  ConnectionPath,
  IdJagClientRule,
  IdJagClientRuleChange,
  IdJagClientRulePage,
  IdJagClientRulePath,
  IdJagClientRuleQuery,
  IdJagTrust,
  NewIdJagClientRule,
  NewIdJagTrust,
} from './assertions.schema.ts';
import { addRule, type ClientDeps, changeRule, getRule, listRules, removeRule } from './clients.ts';
import { liftOwnStop, liftStop, listOwnStops, listStops, type StopDeps } from './stops.ts';
import { deleteIdJag, getIdJag, putIdJag } from './trust.ts';

export const rates = rateRules({
  ssoClientWrite: {
    perMinute: 30,
    describes: 'changes of the clients for which identity providers speak, by developer',
    counts: [{ by: 'developer' }],
  },
});

const own = { access: 'developer', role: 'full', rate: 'default' } as const;
const write = { ...own, rate: rates.ssoClientWrite } as const;

export const assertionRoutes: FastifyPluginAsyncTypebox<ClientDeps> = async (app, deps) => {
  app.put(
    '/v1/sso/connections/:id/id-jag',
    {
      config: { ...own, capability: 'configure', stepUp: true, failures: ['NOT_FOUND', 'CONFLICT'] },
      schema: {
        operationId: 'assertions.put',
        summary: "Let a connection's identity provider decide for its people",
        description:
          'From then on no person is asked: an assertion of the identity provider gives a listed client a token. The connection has to be active, of OpenID Connect, with a verified domain.',
        params: ConnectionPath,
        body: NewIdJagTrust,
        response: { 200: IdJagTrust },
      },
    },
    (request) => putIdJag(deps, callerOf(request), request.params.id, request.body),
  );

  app.get(
    '/v1/sso/connections/:id/id-jag',
    {
      config: { ...own, capability: 'read', failures: ['NOT_FOUND'] },
      schema: {
        operationId: 'assertions.get',
        summary: "Read whether a connection's identity provider decides for its people",
        params: ConnectionPath,
        response: { 200: IdJagTrust },
      },
    },
    (request) => getIdJag(deps, callerOf(request), request.params.id),
  );

  app.delete(
    '/v1/sso/connections/:id/id-jag',
    {
      config: { ...own, capability: 'configure', failures: ['NOT_FOUND'] },
      schema: {
        operationId: 'assertions.delete',
        summary: 'Ask people again, and end every grant that the identity provider has given',
        params: ConnectionPath,
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      await deleteIdJag(deps, callerOf(request), request.params.id);
      return reply.code(204).send(null);
    },
  );

  app.post(
    '/v1/sso/connections/:id/clients',
    {
      config: {
        ...write,
        capability: 'configure',
        stepUp: true,
        failures: ['NOT_FOUND', 'CONFLICT', 'INVALID_SCOPE'],
      },
      schema: {
        operationId: 'assertions.addClient',
        summary: 'List a client for which the identity provider may speak',
        params: ConnectionPath,
        body: NewIdJagClientRule,
        response: { 201: IdJagClientRule },
      },
    },
    async (request, reply) =>
      reply
        .code(201)
        .send(await addRule(depsFor(request, deps), callerOf(request), request.params.id, request.body)),
  );

  app.get(
    '/v1/sso/connections/:id/clients',
    {
      config: { ...own, capability: 'read', failures: ['NOT_FOUND'] },
      schema: {
        operationId: 'assertions.listClients',
        summary: 'List the clients for which the identity provider may speak, newest first',
        params: ConnectionPath,
        querystring: IdJagClientRuleQuery,
        response: { 200: IdJagClientRulePage },
      },
    },
    (request) => listRules(deps, callerOf(request), request.params.id, request.query),
  );

  app.get(
    '/v1/sso/connections/:id/clients/:clientRuleId',
    {
      config: { ...own, capability: 'read', failures: ['NOT_FOUND'] },
      schema: {
        operationId: 'assertions.getClient',
        summary: 'Read the rule of a client',
        params: IdJagClientRulePath,
        response: { 200: IdJagClientRule },
      },
    },
    (request) => getRule(deps, callerOf(request), request.params.id, request.params.clientRuleId),
  );

  app.patch(
    '/v1/sso/connections/:id/clients/:clientRuleId',
    {
      config: { ...write, capability: 'configure', stepUp: true, failures: ['NOT_FOUND', 'INVALID_SCOPE'] },
      schema: {
        operationId: 'assertions.changeClient',
        summary: 'Change the rule of a client',
        description: 'Grants that the rule no longer covers end at once.',
        params: IdJagClientRulePath,
        body: IdJagClientRuleChange,
        response: { 200: IdJagClientRule },
      },
    },
    (request) => {
      const { id: connectionId, clientRuleId: ruleId } = request.params;
      return changeRule(depsFor(request, deps), callerOf(request), { connectionId, ruleId }, request.body);
    },
  );

  app.delete(
    '/v1/sso/connections/:id/clients/:clientRuleId',
    {
      config: { ...write, capability: 'configure', failures: ['NOT_FOUND'] },
      schema: {
        operationId: 'assertions.removeClient',
        summary: 'End the rule of a client, with its grants',
        params: IdJagClientRulePath,
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      const { id: connectionId, clientRuleId: ruleId } = request.params;
      await removeRule(deps, callerOf(request), { connectionId, ruleId });
      return reply.code(204).send(null);
    },
  );
};

export const stopRoutes: FastifyPluginAsyncTypebox<StopDeps> = async (app, deps) => {
  app.get(
    '/v1/sso/id-jag/stops',
    {
      config: { ...own, capability: 'read', failures: [] },
      schema: {
        operationId: 'assertions.listStops',
        summary: 'List what keeps agents from getting a grant of a person again, newest first',
        querystring: AssertionStopQuery,
        response: { 200: AssertionStopPage },
      },
    },
    (request) => listStops(deps, callerOf(request), request.query),
  );

  app.delete(
    '/v1/sso/id-jag/stops/:id',
    {
      config: { ...own, capability: 'configure', stepUp: true, failures: ['NOT_FOUND'] },
      schema: {
        operationId: 'assertions.liftStop',
        summary: 'Let the identity provider give an agent grants of a person again',
        description: 'Every stop of the same agent and person is lifted.',
        params: AssertionStopPath,
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      await liftStop(deps, callerOf(request), request.params.id);
      return reply.code(204).send(null);
    },
  );

  app.get(
    '/v1/principal/stops',
    {
      config: { access: 'session', rate: 'default', failures: [] },
      schema: {
        operationId: 'assertions.ownStops',
        summary: 'List what keeps agents from getting a grant of the principal again, newest first',
        querystring: AssertionStopQuery,
        response: { 200: AssertionStopPage },
      },
    },
    (request) => listOwnStops(deps, sessionOf(request), request.query),
  );

  app.delete(
    '/v1/principal/stops/:id',
    {
      config: {
        access: 'session',
        rate: 'default',
        failures: ['PRINCIPAL_VERIFICATION_REQUIRED', 'NOT_FOUND'],
      },
      schema: {
        operationId: 'assertions.liftOwnStop',
        summary: "Lift one of the principal's own stops",
        description: 'A stop that somebody else has made holds.',
        params: AssertionStopPath,
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      await liftOwnStop(deps, sessionOf(request), request.params.id);
      return reply.code(204).send(null);
    },
  );
};
