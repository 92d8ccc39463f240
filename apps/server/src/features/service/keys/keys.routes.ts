import { NoFields } from '@behest/protocol/shapes';
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { FOR_ALL_ORIGINS, sendFinished } from '../../../platform/http/answers/send.ts';
import { operatorOf } from '../../../platform/http/callers/credentials.ts';
import { generalRates } from '../../../platform/http/limits/rate-rules.ts';
import { type KeyAdminDeps, listKeys, retireKey, rotateKey } from './admin.ts';
import { type DidDeps, serviceDidDocuments } from './did.ts';
import {
  JwkSet,
  KeyPath,
  ManagedKey,
  ManagedKeys,
  NewKeyRotation,
  ServiceDidDocument,
} from './keys.schema.ts';

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

export const keyAdminRoutes: FastifyPluginAsyncTypebox<KeyAdminDeps> = async (app, deps) => {
  app.get(
    '/v1/admin/keys',
    {
      config: { access: 'operator', rate: generalRates.admin, failures: [] },
      schema: {
        operationId: 'keys.list',
        summary: 'List the signing keys with their states, newest first',
        response: { 200: ManagedKeys },
      },
    },
    () => listKeys(deps),
  );

  app.post(
    '/v1/admin/keys/rotate',
    {
      config: {
        access: 'operator',
        rate: generalRates.admin,
        failures: ['KEY_STORE_READ_ONLY', 'CONFLICT'],
      },
      schema: {
        operationId: 'keys.rotate',
        summary: 'Publish a new signing key, which signs after the activation delay',
        body: NewKeyRotation,
        response: { 200: ManagedKey },
      },
    },
    (request) => rotateKey(deps, operatorOf(request), request.body),
  );

  app.post(
    '/v1/admin/keys/:kid/retire',
    {
      config: {
        access: 'operator',
        rate: generalRates.admin,
        failures: ['KEY_STORE_READ_ONLY', 'CONFLICT'],
      },
      schema: {
        operationId: 'keys.retire',
        summary: 'Take a key from use that does not sign, before its time',
        params: KeyPath,
        body: NoFields,
        response: { 200: ManagedKey },
      },
    },
    (request) => retireKey(deps, operatorOf(request), request.params.kid),
  );
};
