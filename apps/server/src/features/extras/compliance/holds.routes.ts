import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { callerOf } from '../../../platform/http/callers/credentials.ts';
import { depsFor } from '../../../platform/http/idempotency/idempotency.ts';
import { rates } from './compliance.rates.ts';
import { Hold, HoldPage, HoldPath, HoldQuery, NewHold, NoFields } from './holds.schema.ts';
import { type HoldDeps, listHolds, placeHold, releaseHold } from './holds.ts';

const FULL = { access: 'developer', role: 'full' } as const;

export const holdRoutes: FastifyPluginAsyncTypebox<HoldDeps> = async (app, deps) => {
  app.post(
    '/v1/compliance/holds',
    {
      config: { ...FULL, rate: rates.complianceHold, failures: ['CONFLICT'] },
      schema: {
        operationId: 'compliance.placeHold',
        summary: 'Place a legal hold',
        description: 'While a hold stands, the account cannot be closed, so nothing of it is erased.',
        body: NewHold,
        response: { 201: Hold },
      },
    },
    async (request, reply) =>
      reply.code(201).send(await placeHold(depsFor(request, deps), callerOf(request), request.body)),
  );

  app.get(
    '/v1/compliance/holds',
    {
      config: { ...FULL, rate: 'default', failures: [] },
      schema: {
        operationId: 'compliance.listHolds',
        summary: 'List legal holds, newest first',
        querystring: HoldQuery,
        response: { 200: HoldPage },
      },
    },
    (request) => listHolds(deps, callerOf(request), request.query),
  );

  app.post(
    '/v1/compliance/holds/:id/release',
    {
      config: { ...FULL, rate: rates.complianceHold, failures: ['NOT_FOUND'] },
      schema: {
        operationId: 'compliance.releaseHold',
        summary: 'Release a legal hold',
        description: 'The hold stays in the list. To release it again changes nothing.',
        params: HoldPath,
        body: NoFields,
        response: { 200: Hold },
      },
    },
    (request) => releaseHold(depsFor(request, deps), callerOf(request), request.params.id),
  );
};
