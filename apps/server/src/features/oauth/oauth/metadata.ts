import { TOOLS_TYPE } from '@behest/protocol/tools-entry';
import { type Finished, finished } from '../../../platform/finished.ts';
import { PROOF_ALGS } from '../../grants/tokens/index.ts';
import type { AuthorizationServerMetadata, ProtectedResourceMetadata } from './oauth.schema.ts';
import { GRANT_TYPES, JWT_BEARER } from './token.ts';

export interface MetadataDeps {
  readonly issuer: string;
  readonly publicBaseUrl: string;
  readonly requiresPush: boolean;
  /** Whether clients may register themselves. */
  readonly registersClients: boolean;
  readonly demandsNonce: boolean;
  readonly acceptsAssertions: boolean;
  /** Whether the service serves its reference at `/docs`. */
  readonly hasDocs: boolean;
}

/** RFC 8414. The document has only what is accepted. */
export function serverMetadata(deps: MetadataDeps): Finished {
  const { issuer, publicBaseUrl, requiresPush, registersClients, acceptsAssertions, hasDocs } = deps;
  const document: AuthorizationServerMetadata = {
    issuer,
    authorization_endpoint: `${publicBaseUrl}/oauth/authorize`,
    token_endpoint: `${publicBaseUrl}/oauth/token`,
    pushed_authorization_request_endpoint: `${publicBaseUrl}/oauth/par`,
    device_authorization_endpoint: `${publicBaseUrl}/oauth/device_authorization`,
    backchannel_authentication_endpoint: `${publicBaseUrl}/oauth/bc-authorize`,
    introspection_endpoint: `${publicBaseUrl}/oauth/introspect`,
    revocation_endpoint: `${publicBaseUrl}/oauth/revoke`,
    ...(registersClients && { registration_endpoint: `${publicBaseUrl}/oauth/register` }),
    jwks_uri: `${publicBaseUrl}/.well-known/jwks.json`,
    scopes_supported: ['offline_access'],
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: GRANT_TYPES.filter((type) => acceptsAssertions || type !== JWT_BEARER),
    // The document does not say which issuers are trusted.
    ...(acceptsAssertions && {
      authorization_grant_profiles_supported: ['urn:ietf:params:oauth:grant-profile:id-jag'],
    }),
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: [
      'none',
      'client_secret_basic',
      'client_secret_post',
      'private_key_jwt',
    ],
    token_endpoint_auth_signing_alg_values_supported: PROOF_ALGS,
    authorization_details_types_supported: [TOOLS_TYPE],
    dpop_signing_alg_values_supported: PROOF_ALGS,
    authorization_response_iss_parameter_supported: true,
    client_id_metadata_document_supported: true,
    require_pushed_authorization_requests: requiresPush,
    backchannel_token_delivery_modes_supported: ['poll'],
    ...(hasDocs && { service_documentation: `${publicBaseUrl}/docs` }),
  };
  return finished(JSON.stringify(document));
}

/** RFC 9728, for the service's own API. */
export function ownResourceMetadata({ issuer }: MetadataDeps): Finished {
  const document: ProtectedResourceMetadata = {
    resource: issuer,
    authorization_servers: [issuer],
    bearer_methods_supported: ['header'],
    resource_name: 'Behest',
    authorization_details_types_supported: [TOOLS_TYPE],
    dpop_signing_alg_values_supported: PROOF_ALGS,
    dpop_bound_access_tokens_required: false,
  };
  return finished(JSON.stringify(document));
}
