import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { callerOf } from '../../platform/http/credentials.ts';
import { EventPage, EventQuery } from './events.schema.ts';
import { type EventsDeps, listEvents } from './events.service.ts';

export const eventRoutes: FastifyPluginAsyncTypebox<EventsDeps> = async (app, deps) => {
  app.get(
    '/v1/events',
    {
      config: { access: 'developer', role: 'runtime', rate: 'default', failures: [] },
      schema: {
        operationId: 'events.list',
        summary: 'List the events of the last 72 hours, oldest first',
        querystring: EventQuery,
        response: { 200: EventPage },
      },
    },
    async (request, reply) => {
      const text = await listEvents(deps, callerOf(request), request.query);
      return reply.type('application/json; charset=utf-8').send(text);
    },
  );
};
