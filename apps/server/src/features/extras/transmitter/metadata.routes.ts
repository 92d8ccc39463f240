import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { finished } from '../../../platform/finished.ts';
import { sendFinished } from '../../../platform/http/answers/send-finished.ts';
import { insertedPath } from '../../../platform/http/routes/inserted-path.ts';
import { POLL, PUSH, TransmitterMetadata } from './streams.schema.ts';

interface MetadataDeps {
  readonly issuer: string;
  readonly publicBaseUrl: string;
}

const PATH = '/.well-known/ssf-configuration';

const HEADERS = {
  'content-type': 'application/json',
  'cache-control': 'public, max-age=300',
} as const;

/**
 * There are no endpoints for subjects: every subject of the developer is in every stream, so nobody can take one out to
 * hide something (Shared Signals Framework 1.0 §9.3).
 */
function metadataOf({ issuer, publicBaseUrl }: MetadataDeps): TransmitterMetadata {
  return {
    spec_version: '1_0',
    issuer,
    jwks_uri: `${publicBaseUrl}/.well-known/jwks.json`,
    delivery_methods_supported: [PUSH, POLL],
    configuration_endpoint: `${publicBaseUrl}/ssf/streams`,
    status_endpoint: `${publicBaseUrl}/ssf/status`,
    verification_endpoint: `${publicBaseUrl}/ssf/verification`,
    authorization_schemes: [{ spec_urn: 'urn:ietf:rfc:6749' }],
    default_subjects: 'ALL',
  };
}

export const metadataRoutes: FastifyPluginAsyncTypebox<MetadataDeps> = async (app, deps) => {
  const document = finished(JSON.stringify(metadataOf(deps)));
  const add = (path: string, operationId: string) =>
    app.get(
      path,
      {
        config: { access: 'none', rate: 'unlimited', isPublic: true, failures: [] },
        schema: {
          operationId,
          summary: 'Read the metadata of the transmitter of signals (SSF 1.0 §7.1)',
          response: { 200: Type.Unsafe<string>(TransmitterMetadata), 304: Type.Null() },
        },
      },
      async (request, reply) => sendFinished(request, reply, document, HEADERS),
    );
  add(PATH, 'ssf.metadata');
  const inserted = insertedPath(deps.issuer, PATH);
  if (inserted !== null) add(inserted, 'ssf.metadataOfPath');
};
