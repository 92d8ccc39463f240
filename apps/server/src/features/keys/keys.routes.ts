import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { JwkSet } from './keys.schema.ts';
import { isHeld, type KeyRing } from './keys.service.ts';

/** The set is answered as finished bytes; its shape is for the published description. */
const JwkSetBytes = Type.Unsafe<Buffer>(JwkSet);

export const keyRoutes: FastifyPluginAsyncTypebox<{ keyRing: KeyRing }> = async (app, { keyRing }) => {
  app.get(
    '/.well-known/jwks.json',
    {
      config: { access: 'none', rate: 'unlimited', failures: [] },
      schema: {
        operationId: 'keys.jwks',
        summary: 'The public keys that tokens are verified with',
        response: { 200: JwkSetBytes, 304: Type.Null() },
      },
    },
    async (request, reply) => {
      const document = keyRing.jwks();
      reply.headers({
        'content-type': 'application/jwk-set+json',
        'cache-control': `public, max-age=${document.maxAgeSeconds}`,
        etag: document.etag,
        'access-control-allow-origin': '*',
        'cross-origin-resource-policy': 'cross-origin',
      });
      if (isHeld(document, request.headers['if-none-match'])) return reply.code(304).send(null);
      return reply.send(document.body);
    },
  );
};
