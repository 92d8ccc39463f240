import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { callerOf } from '../../../platform/http/callers/credentials.ts';
import { depsFor } from '../../../platform/http/idempotency/idempotency.ts';
import {
  changeReceiver,
  deleteReceiver,
  getReceiver,
  listReceivers,
  listSetDeliveries,
  listStreams,
  registerReceiver,
  rotateReceiverSecret,
} from './receivers.ts';
import { rates } from './streams.routes.ts';
import type { StreamDeps } from './streams.ts';
import {
  CreatedReceiver,
  NewReceiver,
  Receiver,
  ReceiverChange,
  ReceiverPage,
  ReceiverPath,
  ReceiverQuery,
  ReceiverRotation,
  ReceiverStreamList,
  RotatedReceiverSecret,
  SetDeliveryPage,
  SetDeliveryQuery,
} from './transmitter.schema.ts';

const write = { access: 'developer', role: 'full', rate: rates.ssfReceiverWrite } as const;
const read = { access: 'developer', role: 'runtime', boundKeys: 'forbidden', rate: 'default' } as const;

export const receiverRoutes: FastifyPluginAsyncTypebox<StreamDeps> = async (app, deps) => {
  app.post(
    '/v1/ssf/receivers',
    {
      config: { ...write, capability: 'configure', stepUp: true, failures: ['CONFLICT'] },
      schema: {
        operationId: 'ssfReceivers.create',
        summary: 'Register a system that listens to signals',
        description:
          'The receiver is an OAuth client, which makes its streams itself (Shared Signals Framework 1.0). `events` is the most that its streams deliver. Only this answer shows the secrets.',
        body: NewReceiver,
        response: { 201: CreatedReceiver },
      },
    },
    async (request, reply) =>
      reply.code(201).send(await registerReceiver(depsFor(request, deps), callerOf(request), request.body)),
  );

  app.get(
    '/v1/ssf/receivers',
    {
      config: { ...read, capability: 'read', failures: [] },
      schema: {
        operationId: 'ssfReceivers.list',
        summary: 'List receivers of signals, newest first',
        querystring: ReceiverQuery,
        response: { 200: ReceiverPage },
      },
    },
    (request) => listReceivers(deps, callerOf(request), request.query),
  );

  app.get(
    '/v1/ssf/receivers/:id',
    {
      config: { ...read, capability: 'read', failures: ['NOT_FOUND'] },
      schema: {
        operationId: 'ssfReceivers.get',
        summary: 'Read a receiver of signals',
        params: ReceiverPath,
        response: { 200: Receiver },
      },
    },
    (request) => getReceiver(deps, callerOf(request), request.params.id),
  );

  app.patch(
    '/v1/ssf/receivers/:id',
    {
      config: { ...write, capability: 'configure', failures: ['NOT_FOUND'] },
      schema: {
        operationId: 'ssfReceivers.change',
        summary: 'Change a receiver of signals',
        params: ReceiverPath,
        body: ReceiverChange,
        response: { 200: Receiver },
      },
    },
    (request) => changeReceiver(depsFor(request, deps), callerOf(request), request.params.id, request.body),
  );

  app.post(
    '/v1/ssf/receivers/:id/rotate-secret',
    {
      config: { ...write, capability: 'configure', stepUp: true, failures: ['NOT_FOUND'] },
      schema: {
        operationId: 'ssfReceivers.rotateSecret',
        summary: 'Give a receiver of signals a new secret',
        description:
          'The former secret holds until the end of the grace period, and so does every token that was issued before.',
        params: ReceiverPath,
        body: ReceiverRotation,
        response: { 200: RotatedReceiverSecret },
      },
    },
    (request) =>
      rotateReceiverSecret(depsFor(request, deps), callerOf(request), request.params.id, request.body),
  );

  app.delete(
    '/v1/ssf/receivers/:id',
    {
      config: { ...write, capability: 'configure', failures: ['NOT_FOUND'] },
      schema: {
        operationId: 'ssfReceivers.delete',
        summary: 'Delete a receiver of signals, with its streams',
        params: ReceiverPath,
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      await deleteReceiver(deps, callerOf(request), request.params.id);
      return reply.code(204).send(null);
    },
  );

  app.get(
    '/v1/ssf/receivers/:id/streams',
    {
      config: { ...read, capability: 'read', failures: ['NOT_FOUND'] },
      schema: {
        operationId: 'ssfReceivers.streams',
        summary: 'List the streams of a receiver',
        params: ReceiverPath,
        response: { 200: ReceiverStreamList },
      },
    },
    (request) => listStreams(deps, callerOf(request), request.params.id),
  );

  app.get(
    '/v1/ssf/receivers/:id/deliveries',
    {
      config: { ...read, capability: 'read', failures: ['NOT_FOUND'] },
      schema: {
        operationId: 'ssfReceivers.deliveries',
        summary: 'List the signals on their way to a receiver, newest first',
        params: ReceiverPath,
        querystring: SetDeliveryQuery,
        response: { 200: SetDeliveryPage },
      },
    },
    (request) => listSetDeliveries(deps, callerOf(request), request.params.id, request.query),
  );
};
