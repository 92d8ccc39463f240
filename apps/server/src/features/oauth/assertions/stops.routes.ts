import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { callerOf, sessionOf } from '../../../platform/http/callers/credentials.ts';
import { StopPage, StopPath, StopQuery } from './assertions.schema.ts';
import { liftOwnStop, liftStop, listOwnStops, listStops, type StopDeps } from './stops.ts';

const own = { access: 'developer', role: 'full', rate: 'default' } as const;

export const stopRoutes: FastifyPluginAsyncTypebox<StopDeps> = async (app, deps) => {
  app.get(
    '/v1/sso/id-jag/stops',
    {
      config: { ...own, failures: [] },
      schema: {
        operationId: 'assertions.listStops',
        summary: 'List what keeps agents from getting a grant of a person again, newest first',
        querystring: StopQuery,
        response: { 200: StopPage },
      },
    },
    (request) => listStops(deps, callerOf(request), request.query),
  );

  app.delete(
    '/v1/sso/id-jag/stops/:id',
    {
      config: { ...own, failures: ['NOT_FOUND'] },
      schema: {
        operationId: 'assertions.liftStop',
        summary: 'Let the identity provider give an agent grants of a person again',
        description: 'Every stop of the same agent and person is lifted.',
        params: StopPath,
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
        querystring: StopQuery,
        response: { 200: StopPage },
      },
    },
    (request) => listOwnStops(deps, sessionOf(request), request.query),
  );

  app.delete(
    '/v1/principal/stops/:id',
    {
      config: { access: 'session', rate: 'default', failures: ['NOT_FOUND'] },
      schema: {
        operationId: 'assertions.liftOwnStop',
        summary: "Lift one of the principal's own stops",
        description: 'A stop that somebody else has made holds.',
        params: StopPath,
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      await liftOwnStop(deps, sessionOf(request), request.params.id);
      return reply.code(204).send(null);
    },
  );
};
