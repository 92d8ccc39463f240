import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { finished } from '../../../platform/finished.ts';
import { sendFinished } from '../../../platform/http/answers/send.ts';
import { bearerOf, callerOf, ssfReceiverOf } from '../../../platform/http/callers/credentials.ts';
import { rateRules } from '../../../platform/http/limits/rate-rules.ts';
import { insertedPath } from '../../../platform/http/routes/inserted-path.ts';
import { hashOf } from '../../../platform/ids.ts';
import { type PollDeps, pollStream } from './poll.ts';
import { changeStatus, readStatus, requestVerification } from './status.ts';
import { changeStream, createStream, deleteStream, readStreams } from './streams.ts';
import { findSsfCaller } from './tokens.ts';
import {
  NewStream,
  OneStream,
  POLL,
  PollPath,
  PollRequest,
  PollResponse,
  PUSH,
  StreamChange,
  StreamConfiguration,
  StreamQuery,
  StreamStatus,
  StreamStatusChange,
  StreamVerificationRequest,
  TransmitterMetadata,
} from './transmitter.schema.ts';

export const rates = rateRules({
  ssf: {
    perMinute: 120,
    describes: 'calls of receivers of signals, by receiver',
    counts: [{ by: 'token' }],
  },
  ssfReceiverWrite: {
    perMinute: 30,
    describes: 'registering, changing and deleting receivers of signals, by developer',
    counts: [{ by: 'developer' }],
  },
});

const manage = { access: 'ssf', ssfScope: 'ssf.manage', rate: rates.ssf } as const;
const read = { access: 'ssf', ssfScope: 'ssf.read', rate: rates.ssf } as const;

const receivingOf = (request: FastifyRequest) => ({
  caller: callerOf(request),
  receiverId: ssfReceiverOf(request),
});

/** The calls that receivers make (Shared Signals Framework 1.0 §8.1, RFC 8936). */
export const streamRoutes: FastifyPluginAsyncTypebox<PollDeps> = async (app, deps) => {
  app.addHook('onRequest', async (_request, reply) => {
    reply.header('cache-control', 'no-store');
  });

  app.post(
    '/ssf/streams',
    {
      config: { ...manage, failures: ['CONFLICT', 'NOT_FOUND'] },
      schema: {
        operationId: 'ssf.createStream',
        summary: 'Make a stream of signals (SSF 1.0 §8.1.1.1)',
        body: NewStream,
        response: { 201: StreamConfiguration },
      },
    },
    async (request, reply) =>
      reply.code(201).send(await createStream(deps, receivingOf(request), request.body)),
  );

  app.get(
    '/ssf/streams',
    {
      config: { ...read, failures: ['NOT_FOUND'] },
      schema: {
        operationId: 'ssf.readStreams',
        summary: 'Read a stream, or all streams of the receiver (SSF 1.0 §8.1.1.2)',
        querystring: StreamQuery,
        response: { 200: Type.Union([StreamConfiguration, Type.Array(StreamConfiguration)]) },
      },
    },
    (request) => readStreams(deps, receivingOf(request), request.query.stream_id),
  );

  app.patch(
    '/ssf/streams',
    {
      config: { ...manage, failures: ['NOT_FOUND'] },
      schema: {
        operationId: 'ssf.changeStream',
        summary: 'Change a stream (SSF 1.0 §8.1.1.3)',
        body: StreamChange,
        response: { 200: StreamConfiguration },
      },
    },
    (request) => changeStream(deps, receivingOf(request), request.body, { replaces: false }),
  );

  app.put(
    '/ssf/streams',
    {
      config: { ...manage, failures: ['NOT_FOUND'] },
      schema: {
        operationId: 'ssf.replaceStream',
        summary: 'Replace what the receiver has written of a stream (SSF 1.0 §8.1.1.4)',
        body: StreamChange,
        response: { 200: StreamConfiguration },
      },
    },
    (request) => changeStream(deps, receivingOf(request), request.body, { replaces: true }),
  );

  app.delete(
    '/ssf/streams',
    {
      config: { ...manage, failures: ['NOT_FOUND'] },
      schema: {
        operationId: 'ssf.deleteStream',
        summary: 'Delete a stream (SSF 1.0 §8.1.1.5)',
        querystring: OneStream,
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      await deleteStream(deps, receivingOf(request), request.query.stream_id);
      return reply.code(204).send(null);
    },
  );

  app.get(
    '/ssf/status',
    {
      config: { ...read, failures: ['NOT_FOUND'] },
      schema: {
        operationId: 'ssf.readStatus',
        summary: 'Read the status of a stream (SSF 1.0 §8.1.2.1)',
        querystring: OneStream,
        response: { 200: StreamStatus },
      },
    },
    (request) => readStatus(deps, receivingOf(request), request.query.stream_id),
  );

  app.post(
    '/ssf/status',
    {
      config: { ...manage, failures: ['NOT_FOUND'] },
      schema: {
        operationId: 'ssf.changeStatus',
        summary: 'Enable, pause or disable a stream (SSF 1.0 §8.1.2.2)',
        body: StreamStatusChange,
        response: { 200: StreamStatus },
      },
    },
    (request) => changeStatus(deps, receivingOf(request), request.body),
  );

  app.post(
    '/ssf/verification',
    {
      config: { ...manage, failures: ['NOT_FOUND'] },
      schema: {
        operationId: 'ssf.verify',
        summary: 'Ask for a signal that verifies a stream (SSF 1.0 §8.1.4.2)',
        body: StreamVerificationRequest,
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      await requestVerification(deps, receivingOf(request), request.body);
      return reply.code(204).send(null);
    },
  );

  app.post(
    '/ssf/poll/:id',
    {
      config: { ...read, isLive: true, failures: ['NOT_FOUND', 'SERVICE_UNAVAILABLE'] },
      schema: {
        operationId: 'ssf.poll',
        summary: 'Fetch signals, and acknowledge them (RFC 8936)',
        description: 'Waits up to 30 seconds for a first signal, unless `returnImmediately` is true.',
        params: PollPath,
        body: PollRequest,
        response: { 200: PollResponse },
      },
    },
    (request, reply) =>
      pollStream(deps, receivingOf(request), request.params.id, request.body, {
        gone: goneSignal(reply),
        isLet: async () => (await findSsfCaller(deps, hashOf(bearerOf(request) ?? ''))) !== undefined,
      }),
  );
};

/** Aborts when the client closes its connection before the answer. */
function goneSignal({ raw }: FastifyReply): AbortSignal {
  const gone = new AbortController();
  raw.once('close', () => gone.abort());
  return gone.signal;
}

interface MetadataDeps {
  readonly issuer: string;
  readonly publicBaseUrl: string;
}

const PATH = '/.well-known/ssf-configuration';

const HEADERS = {
  'content-type': 'application/json',
  'cache-control': 'public, max-age=300',
} as const;

/**
 * There are no endpoints for subjects: every subject of the developer is in every stream, so nobody can take one out to
 * hide something (Shared Signals Framework 1.0 §9.3).
 */
function metadataOf({ issuer, publicBaseUrl }: MetadataDeps): TransmitterMetadata {
  return {
    spec_version: '1_0',
    issuer,
    jwks_uri: `${publicBaseUrl}/.well-known/jwks.json`,
    delivery_methods_supported: [PUSH, POLL],
    configuration_endpoint: `${publicBaseUrl}/ssf/streams`,
    status_endpoint: `${publicBaseUrl}/ssf/status`,
    verification_endpoint: `${publicBaseUrl}/ssf/verification`,
    authorization_schemes: [{ spec_urn: 'urn:ietf:rfc:6749' }],
    default_subjects: 'ALL',
  };
}

export const metadataRoutes: FastifyPluginAsyncTypebox<MetadataDeps> = async (app, deps) => {
  const document = finished(JSON.stringify(metadataOf(deps)));
  const add = (path: string, operationId: string) =>
    app.get(
      path,
      {
        config: { access: 'none', rate: 'unlimited', isPublic: true, failures: [] },
        schema: {
          operationId,
          summary: 'Read the metadata of the transmitter of signals (SSF 1.0 §7.1)',
          response: { 200: Type.Unsafe<string>(TransmitterMetadata), 304: Type.Null() },
        },
      },
      async (request, reply) => sendFinished(request, reply, document, HEADERS),
    );
  add(PATH, 'ssf.metadata');
  const inserted = insertedPath(deps.issuer, PATH);
  if (inserted !== null) add(inserted, 'ssf.metadataOfPath');
};
