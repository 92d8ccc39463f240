import { type Static, Type } from 'typebox';

/** RFC 7591 §2. The rules refuse wrong values by the names of that specification, and ignore other members. */
export type ClientMetadata = Static<typeof ClientMetadata>;
export const ClientMetadata = Type.Object(
  {
    /** Only a replacement has them (RFC 7592 §2.2): they have to be those of the client. */
    client_id: Type.Optional(Type.Unknown()),
    client_secret: Type.Optional(Type.Unknown()),
    redirect_uris: Type.Optional(Type.Unknown()),
    client_name: Type.Optional(Type.Unknown()),
    application_type: Type.Optional(Type.Unknown()),
    grant_types: Type.Optional(Type.Unknown()),
    response_types: Type.Optional(Type.Unknown()),
    token_endpoint_auth_method: Type.Optional(Type.Unknown()),
    client_uri: Type.Optional(Type.Unknown()),
    logo_uri: Type.Optional(Type.Unknown()),
    scope: Type.Optional(Type.Unknown()),
    jwks: Type.Optional(Type.Unknown()),
    jwks_uri: Type.Optional(Type.Unknown()),
  },
  { additionalProperties: true },
);

/** RFC 7591 §3.2.1, RFC 7592 §3. */
export type RegisteredClient = Static<typeof RegisteredClient>;
export const RegisteredClient = Type.Object({
  client_id: Type.String(),
  client_id_issued_at: Type.Integer(),
  client_secret: Type.Optional(Type.String()),
  client_secret_expires_at: Type.Optional(Type.Integer()),
  registration_access_token: Type.String(),
  registration_client_uri: Type.String(),
  redirect_uris: Type.Array(Type.String()),
  client_name: Type.String(),
  application_type: Type.Enum(['native', 'web']),
  grant_types: Type.Array(Type.String()),
  response_types: Type.Array(Type.String()),
  token_endpoint_auth_method: Type.String(),
  client_uri: Type.Optional(Type.String()),
  logo_uri: Type.Optional(Type.String()),
  scope: Type.Optional(Type.String()),
  jwks: Type.Optional(Type.Unknown()),
  jwks_uri: Type.Optional(Type.String()),
});

export const RegistrationPath = Type.Object({ clientId: Type.String({ pattern: '^dcr_[0-9A-Z]{26}$' }) });
