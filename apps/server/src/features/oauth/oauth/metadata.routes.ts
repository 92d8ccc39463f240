import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import type { Finished } from '../../../platform/finished.ts';
import { sendFinished } from '../../../platform/http/answers/send.ts';
import { insertedPath } from '../../../platform/http/routes/inserted-path.ts';
import { type MetadataDeps, ownResourceMetadata, serverMetadata } from './metadata.ts';
import { AuthorizationServerMetadata, ProtectedResourceMetadata } from './oauth.schema.ts';

const SERVER = '/.well-known/oauth-authorization-server';
const RESOURCE = '/.well-known/oauth-protected-resource';

const HEADERS = {
  'content-type': 'application/json',
  'cache-control': 'public, max-age=300',
} as const;

/** The routes send finished documents; the shapes are for the API description. */
const ServerText = Type.Unsafe<string>(AuthorizationServerMetadata);
const ResourceText = Type.Unsafe<string>(ProtectedResourceMetadata);
const config = { access: 'none', rate: 'unlimited', isPublic: true, failures: [] } as const;

export const metadataRoutes: FastifyPluginAsyncTypebox<MetadataDeps> = async (app, deps) => {
  const documents = { server: serverMetadata(deps), resource: ownResourceMetadata(deps) };

  const addServer = (path: string, operationId: string) =>
    app.get(
      path,
      {
        config,
        schema: {
          operationId,
          summary: 'Read the metadata of the authorization server (RFC 8414)',
          response: { 200: ServerText, 304: Type.Null() },
        },
      },
      async (request, reply) => sendFinished(request, reply, documents.server, HEADERS),
    );
  const addResource = (path: string, operationId: string, document: Finished) =>
    app.get(
      path,
      {
        config,
        schema: {
          operationId,
          summary: "Read the metadata of the service's own API as a resource (RFC 9728)",
          response: { 200: ResourceText, 304: Type.Null() },
        },
      },
      async (request, reply) => sendFinished(request, reply, document, HEADERS),
    );

  addServer(SERVER, 'oauth.metadata');
  addResource(RESOURCE, 'oauth.resourceMetadata', documents.resource);
  const [server, resource] = [insertedPath(deps.issuer, SERVER), insertedPath(deps.issuer, RESOURCE)];
  if (server !== null) addServer(server, 'oauth.metadataOfPath');
  if (resource !== null) addResource(resource, 'oauth.resourceMetadataOfPath', documents.resource);
};
