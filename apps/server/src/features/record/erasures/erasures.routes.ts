import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { callerOf } from '../../../platform/http/callers/credentials.ts';
import { depsFor } from '../../../platform/http/idempotency/idempotency.ts';
import { rateRules } from '../../../platform/http/limits/rate-rules.ts';
import { beginErasure, type ErasureDeps, getErasure } from './erase.ts';
import { CreatedErasure, Erasure, ErasurePath, NewErasure } from './erasures.schema.ts';

export const rates = rateRules({
  auditErasure: {
    perMinute: 30,
    describes: 'erasing the content of people from audit entries, by developer',
    counts: [{ by: 'developer' }],
  },
});

export const erasureRoutes: FastifyPluginAsyncTypebox<ErasureDeps> = async (app, deps) => {
  app.post(
    '/v1/audit/erasures',
    {
      config: {
        access: 'developer',
        capability: 'govern',
        role: 'full',
        rate: rates.auditErasure,
        failures: ['CONFLICT'],
      },
      schema: {
        operationId: 'audit.erase',
        summary: 'Erase the content of a person from audit entries',
        description:
          'The hashes stay, so the chain can be checked as before; the person, the salt and personal members of the metadata go. Refused while the person has an active grant, or a legal hold about them or the account stands.',
        body: NewErasure,
        response: { 202: CreatedErasure },
      },
    },
    async (request, reply) =>
      reply.code(202).send(await beginErasure(depsFor(request, deps), callerOf(request), request.body)),
  );

  app.get(
    '/v1/audit/erasures/:id',
    {
      config: {
        access: 'developer',
        capability: 'read',
        role: 'full',
        rate: 'default',
        failures: ['NOT_FOUND'],
      },
      schema: {
        operationId: 'audit.getErasure',
        summary: 'Read how far an erasure is',
        params: ErasurePath,
        response: { 200: Erasure },
      },
    },
    (request) => getErasure(deps, callerOf(request), request.params.id),
  );
};
