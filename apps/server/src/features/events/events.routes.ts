import { finished, type Readable } from 'node:stream';
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { bearerOf, callerOf } from '../../platform/http/credentials.ts';
import { hashOf } from '../../platform/ids.ts';
import { type AnnounceDeps, announceCommits } from './events.announce.service.ts';
import { EventPage, EventQuery, StreamQuery } from './events.schema.ts';
import { listEvents } from './events.service.ts';
import { createStreams, type StreamsDeps } from './events.streams.service.ts';

type EventRoutesDeps = StreamsDeps & Pick<AnnounceDeps, 'notices'>;

const EventStream = {
  description: 'Each event as it happens: its id, its type, and its envelope on one line of data',
  content: { 'text/event-stream': { schema: Type.Unsafe<Readable>(Type.String()) } },
};

export const eventRoutes: FastifyPluginAsyncTypebox<EventRoutesDeps> = async (app, deps) => {
  const streams = createStreams(deps);
  const stopListening = announceCommits({ ...deps, tail: streams.tail });
  app.addHook('preClose', async () => {
    stopListening();
    await streams.close();
  });

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

  app.get(
    '/v1/events/stream',
    {
      config: {
        access: 'developer',
        role: 'runtime',
        rate: 'default',
        failures: ['TOO_MANY_CONNECTIONS'],
        isLive: true,
      },
      schema: {
        operationId: 'events.stream',
        summary: 'Follow events as they happen, as server-sent events',
        querystring: StreamQuery,
        response: { 200: EventStream },
      },
    },
    async (request, reply) => {
      const { types, lastEventId } = request.query;
      const stream = await streams.open(callerOf(request), {
        types,
        lastEventId: request.headers['last-event-id']?.toString() || lastEventId,
        keyHash: hashOf(bearerOf(request) ?? ''),
      });
      finished(reply.raw, () => stream.destroy()); // which Fastify does too, but not for HEAD
      return reply
        .headers({ 'content-type': 'text/event-stream', 'x-accel-buffering': 'no', connection: 'close' })
        .send(stream);
    },
  );
};
