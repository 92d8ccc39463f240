import type { Readable } from 'node:stream';
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { BrowserRequest } from '../../../platform/caller.ts';
import { sendLive } from '../../../platform/http/answers/send.ts';
import { bearerOf, callerOf } from '../../../platform/http/callers/credentials.ts';
import { browserRequestOf } from '../../../platform/http/callers/member.ts';
import { hashOf } from '../../../platform/ids.ts';
import { type AnnounceDeps, announceCommits } from './announce.ts';
import { EventPage, EventQuery, SocketQuery, StreamQuery } from './events.schema.ts';
import { type EventsDeps, listEvents } from './list.ts';
import { bodyOutlet } from './outlet.ts';
import { openSocket } from './socket.ts';
import { memberSeatsOf, type Streams, seatsOf, verifierSeatsOf } from './streams.ts';

interface EventRoutesDeps extends EventsDeps, Pick<AnnounceDeps, 'notices' | 'store'> {
  readonly streams: Streams;
  readonly isKeyGood: (keyHash: Buffer) => Promise<boolean>;
  readonly isSessionGood: (browser: BrowserRequest) => Promise<boolean>;
}

/** Seconds. A member who was suspended, removed or signed out sees no more than these of what happens. */
const SESSION_CHECKED_EVERY = 3;

const EventStream = {
  description: 'Each event as it happens: its id, its type, and its envelope on one line of data',
  content: {
    'text/event-stream': { schema: Type.Unsafe<Readable>(Type.String()) },
    'application/x-ndjson': { schema: Type.Unsafe<Readable>(Type.String()) },
  },
};

const EventSocket = Type.Null({
  description:
    'Each message is the envelope of an event. The client may send `{"types":["grant.*"]}` to choose the events that follow.',
});

export const eventRoutes: FastifyPluginAsyncTypebox<EventRoutesDeps> = async (app, deps) => {
  const { streams } = deps;
  const holderIn = (request: FastifyRequest, purpose?: 'verifier') => {
    const caller = callerOf(request);
    if (request.caller?.kind === 'member') {
      const browser = { ...browserRequestOf(request), isWrite: false, isBackground: true };
      const isGood = () => deps.isSessionGood(browser);
      return { seats: memberSeatsOf(caller), isGood, checkedEvery: SESSION_CHECKED_EVERY };
    }
    const keyHash = hashOf(bearerOf(request) ?? '');
    const seats = purpose === 'verifier' ? verifierSeatsOf(caller) : seatsOf(caller);
    return { seats: [seats], isGood: () => deps.isKeyGood(keyHash) };
  };
  const stopListening = announceCommits({ ...deps, tail: streams.tail });
  app.addHook('preClose', async () => {
    stopListening();
    await streams.close();
  });

  app.get(
    '/v1/events',
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
        capability: 'read',
        role: 'runtime',
        boundKeys: 'own agents',
        rate: 'default',
        failures: ['TOO_MANY_CONNECTIONS'],
        isLive: true,
      },
      schema: {
        operationId: 'events.stream',
        summary: 'Follow events as they happen, as server-sent events or lines of JSON',
        description:
          'With `format=ndjson` each line is an envelope, with `format=ocsf` an event of OCSF 1.6.0. An empty line every 30 seconds keeps the connection alive.',
        querystring: StreamQuery,
        response: { 200: EventStream },
      },
    },
    async (request, reply) => {
      const { types, format, for: purpose } = request.query;
      const lastEventId = request.headers['last-event-id']?.toString() || request.query.lastEventId;
      const outlet = bodyOutlet(format, deps.clock);
      const asked = { types, lastEventId, ...holderIn(request, purpose) };
      await streams.open(callerOf(request), asked, () => outlet);
      return sendLive(reply, outlet);
    },
  );

  app.get(
    '/v1/events/ws',
    {
      config: {
        access: 'developer',
        capability: 'read',
        role: 'runtime',
        boundKeys: 'own agents',
        rate: 'default',
        failures: [],
        fromAllowedOrigins: true,
      },
      schema: {
        operationId: 'events.socket',
        summary: 'Follow events as they happen, over a WebSocket',
        querystring: SocketQuery,
        response: { 101: EventSocket },
      },
    },
    async (request, reply) => {
      const { types, lastEventId } = request.query;
      const asked = { types, lastEventId, ...holderIn(request) };
      await openSocket(streams, callerOf(request), asked, () => reply.acceptSocket());
      return reply;
    },
  );
};
