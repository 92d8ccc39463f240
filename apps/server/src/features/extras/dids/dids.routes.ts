import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { rateRules } from '../../../platform/http/limits/rate-rules.ts';
import { DidPath, DidResolution } from './dids.schema.ts';
import { type DidDeps, resolveDid } from './resolve.ts';

export const rates = rateRules({
  didResolve: {
    perMinute: 60,
    describes: '`GET /v1/dids/:id`, by client address',
    counts: [{ by: 'address' }],
  },
});

export const didRoutes: FastifyPluginAsyncTypebox<DidDeps> = async (app, deps) => {
  app.get(
    '/v1/dids/:did',
    {
      config: {
        access: 'none',
        rate: rates.didResolve,
        isPublic: true,
        failures: ['NOT_FOUND', 'UNSUPPORTED_DID', 'UPSTREAM_ERROR'],
      },
      schema: {
        operationId: 'dids.resolve',
        summary: 'Resolve a DID of the service, of an agent or of a key',
        params: DidPath,
        response: { 200: DidResolution },
      },
    },
    async (request, reply) =>
      reply.header('cache-control', 'public, max-age=300').send(await resolveDid(deps, request.params.did)),
  );
};
