import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { ServiceDidDocument } from './keys.did.schema.ts';
import { JwkSet } from './keys.schema.ts';
import { type DidDeps, getServiceDidDocument, isHeld } from './keys.service.ts';

/** The route sends finished bytes; the shape is for the API description. */
const JwkSetBytes = Type.Unsafe<Buffer>(JwkSet);

export const keyRoutes: FastifyPluginAsyncTypebox<DidDeps> = async (app, deps) => {
  const { keyRing } = deps;
  app.get(
    '/.well-known/jwks.json',
    {
      config: { access: 'none', rate: 'unlimited', failures: [] },
      schema: {
        operationId: 'keys.jwks',
        summary: 'Read the public keys that verify tokens',
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

  app.get(
    '/.well-known/did.json',
    {
      config: { access: 'none', rate: 'default', failures: [] },
      schema: {
        operationId: 'keys.did',
        summary: "Read the service's DID document",
        response: { 200: ServiceDidDocument },
      },
    },
    async (_request, reply) =>
      reply
        .serializer(JSON.stringify) // Fastify's own adds a charset, which this media type forbids
        .headers({
          'content-type': 'application/did+json',
          'cache-control': 'public, max-age=300',
          'access-control-allow-origin': '*',
          'cross-origin-resource-policy': 'cross-origin',
        })
        .send(getServiceDidDocument(deps)),
  );
};
