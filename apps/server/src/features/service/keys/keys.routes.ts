import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { FOR_ALL_ORIGINS, sendFinished } from '../../../platform/http/answers/send-finished.ts';
import { ServiceDidDocument } from './did.schema.ts';
import { type DidDeps, serviceDidDocuments } from './did.ts';
import { JwkSet } from './keys.schema.ts';

/** The routes send finished documents; the shapes are for the API description. */
const JwkSetText = Type.Unsafe<string>(JwkSet);
const ServiceDidText = Type.Unsafe<string>(ServiceDidDocument);

export const keyRoutes: FastifyPluginAsyncTypebox<DidDeps> = async (app, deps) => {
  const jwks = () => {
    const document = deps.keyRing.jwks();
    const maxAge = `public, max-age=${document.maxAgeSeconds}`;
    const headers = {
      ...FOR_ALL_ORIGINS,
      'content-type': 'application/jwk-set+json',
      'cache-control': maxAge,
    };
    return { document, headers };
  };
  app.get(
    '/.well-known/jwks.json',
    {
      config: { access: 'none', rate: 'unlimited', isPublic: true, failures: [], ready: jwks },
      schema: {
        operationId: 'keys.jwks',
        summary: 'Read the public keys that verify tokens',
        response: { 200: JwkSetText, 304: Type.Null() },
      },
    },
    async (request, reply) => {
      const { document, headers } = jwks();
      return sendFinished(request, reply, document, headers);
    },
  );

  const didDocument = serviceDidDocuments(deps);
  app.get(
    '/.well-known/did.json',
    {
      config: { access: 'none', rate: 'default', isPublic: true, failures: [] },
      schema: {
        operationId: 'keys.did',
        summary: "Read the service's DID document",
        response: { 200: ServiceDidText, 304: Type.Null() },
      },
    },
    async (request, reply) =>
      sendFinished(request, reply, didDocument(), {
        'content-type': 'application/did+json',
        'cache-control': 'public, max-age=300',
      }),
  );
};
