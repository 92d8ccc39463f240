import { type Static, Type } from 'typebox';

const Texts = Type.Array(Type.String());

/** RFC 8414 §2. */
export type ServerMetadata = Static<typeof ServerMetadata>;
export const ServerMetadata = Type.Object({
  issuer: Type.String(),
  authorization_endpoint: Type.String(),
  token_endpoint: Type.String(),
  pushed_authorization_request_endpoint: Type.String(),
  device_authorization_endpoint: Type.String(),
  backchannel_authentication_endpoint: Type.String(),
  introspection_endpoint: Type.String(),
  revocation_endpoint: Type.String(),
  registration_endpoint: Type.Optional(Type.String()),
  jwks_uri: Type.String(),
  scopes_supported: Texts,
  response_types_supported: Texts,
  response_modes_supported: Texts,
  grant_types_supported: Texts,
  authorization_grant_profiles_supported: Type.Optional(Texts),
  code_challenge_methods_supported: Texts,
  token_endpoint_auth_methods_supported: Texts,
  token_endpoint_auth_signing_alg_values_supported: Texts,
  authorization_details_types_supported: Texts,
  dpop_signing_alg_values_supported: Texts,
  authorization_response_iss_parameter_supported: Type.Boolean(),
  client_id_metadata_document_supported: Type.Boolean(),
  require_pushed_authorization_requests: Type.Boolean(),
  backchannel_token_delivery_modes_supported: Texts,
  service_documentation: Type.Optional(Type.String()),
});

/** RFC 9728 §2. */
export type ResourceMetadata = Static<typeof ResourceMetadata>;
export const ResourceMetadata = Type.Object({
  resource: Type.String(),
  authorization_servers: Texts,
  bearer_methods_supported: Texts,
  resource_name: Type.String(),
  authorization_details_types_supported: Texts,
  dpop_signing_alg_values_supported: Texts,
  dpop_bound_access_tokens_required: Type.Boolean(),
});
