import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { callerAs, callerOf } from '../../../platform/http/callers/credentials.ts';
import { generalRates, rateRules } from '../../../platform/http/limits/rate-rules.ts';
import { deleteSignals, getSignals, putSignals } from './manage.ts';
import { type ReceiveDeps, receiveSignal } from './receive.ts';
import {
  CreatedSsoSignals,
  ReceivePath,
  SecurityEventToken,
  SetSsoSignals,
  SignalsPath,
  SsoSignals,
} from './signals.schema.ts';

export const rates = rateRules({
  ssfReceive: {
    perMinute: 600,
    describes: 'signals of an identity provider that has shown its secret, by connection',
    counts: [{ by: 'resource' }],
  },
});

const own = { access: 'developer', role: 'full', rate: 'default' } as const;

export const signalRoutes: FastifyPluginAsyncTypebox<ReceiveDeps> = async (app, deps) => {
  app.put(
    '/v1/sso/connections/:id/signals',
    {
      config: { ...own, capability: 'configure', stepUp: true, failures: ['NOT_FOUND', 'DISCOVERY_FAILED'] },
      schema: {
        operationId: 'signals.put',
        summary: 'Listen to the identity provider of a connection',
        description:
          'The answer has `authorizationHeader` when the source is new, and never again. Delete the source to make another.',
        params: SignalsPath,
        body: SetSsoSignals,
        response: { 200: CreatedSsoSignals },
      },
    },
    (request) => putSignals(deps, callerOf(request), request.params.id, request.body),
  );

  app.get(
    '/v1/sso/connections/:id/signals',
    {
      config: { ...own, capability: 'read', failures: ['NOT_FOUND'] },
      schema: {
        operationId: 'signals.get',
        summary: 'Read how the service listens to the identity provider of a connection',
        params: SignalsPath,
        response: { 200: SsoSignals },
      },
    },
    (request) => getSignals(deps, callerOf(request), request.params.id),
  );

  app.delete(
    '/v1/sso/connections/:id/signals',
    {
      config: { ...own, capability: 'configure', failures: ['NOT_FOUND'] },
      schema: {
        operationId: 'signals.delete',
        summary: 'Stop listening to the identity provider of a connection',
        params: SignalsPath,
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      await deleteSignals(deps, callerOf(request), request.params.id);
      return reply.code(204).send(null);
    },
  );

  app.post(
    '/ssf/receive/:id',
    {
      config: {
        access: 'none',
        errors: 'set',
        rate: [generalRates.default, rates.ssfReceive],
        failures: [],
        takesSet: true,
      },
      schema: {
        operationId: 'signals.receive',
        summary: 'Take a signal of an identity provider (RFC 8935)',
        description:
          'The body is a security event token, `application/secevent+jwt`. The `id` is that of the connection. A signal that was taken before has no second effect, and its answer is 202 too.',
        params: ReceivePath,
        body: SecurityEventToken,
        response: { 202: Type.String({ maxLength: 0 }) },
      },
    },
    async (request, reply) => {
      await receiveSignal(deps, {
        connectionId: request.params.id,
        set: request.body.set,
        authorization: request.headers.authorization,
        requestId: request.id,
        charge: callerAs(request, 'none').chargeResource,
      });
      return reply.code(202).type('text/plain').send('');
    },
  );
};
