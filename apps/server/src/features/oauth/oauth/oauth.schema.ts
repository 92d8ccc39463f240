import { AssertionResponse, OfStandard } from '@behest/protocol/passkey-shapes';
import { Id, ShownBranding, Time } from '@behest/protocol/shapes';
import { type Static, Type } from 'typebox';
import { UiLocales } from '../../../platform/languages.ts';

const AuthMethod = Type.Enum([
  ...(['none', 'client_secret_basic', 'client_secret_post', 'private_key_jwt'] as const),
  'workload_jwt',
]);

export type OAuthClientSettings = Static<typeof OAuthClientSettings>;
export const OAuthClientSettings = Type.Object(
  {
    redirectUris: Type.Array(Type.String({ minLength: 1, maxLength: 2048 }), {
      maxItems: 20,
      default: [],
    }),
    authMethod: AuthMethod,
    dpopBound: Type.Boolean({ default: false }),
  },
  { additionalProperties: false },
);

export type OAuthClient = Static<typeof OAuthClient>;
export const OAuthClient = Type.Object({
  clientId: Id,
  redirectUris: Type.Array(Type.String()),
  authMethod: AuthMethod,
  dpopBound: Type.Boolean(),
  createdAt: Time,
  updatedAt: Time,
  /** Only in the answer that made it. */
  clientSecret: Type.Optional(Type.String()),
});

export const ClientPath = Type.Object({ id: Id });

const Text = Type.String({ maxLength: 16_384 });
/** Members by which a client proves itself (RFC 6749 §2.3.1, RFC 7521 §4.2). */
const credentials = {
  client_id: Type.Optional(Text),
  client_secret: Type.Optional(Text),
  client_assertion_type: Type.Optional(Text),
  client_assertion: Type.Optional(Text),
};
const Texts = Type.Array(Type.String());
const Resources = Type.Array(Type.String({ minLength: 1, maxLength: 1024 }), { maxItems: 5 });

/** RFC 6749 §4.1.1 and the specifications that add to it. Other members are ignored. */
export type OAuthAuthorizationRequest = Static<typeof OAuthAuthorizationRequest>;
export const OAuthAuthorizationRequest = Type.Object(
  {
    ...credentials,
    response_type: Type.Optional(Text),
    response_mode: Type.Optional(Text),
    redirect_uri: Type.Optional(Text),
    scope: Type.Optional(Text),
    state: Type.Optional(Text),
    code_challenge: Type.Optional(Text),
    code_challenge_method: Type.Optional(Text),
    resource: Type.Optional(Resources),
    authorization_details: Type.Optional(Text),
    purpose: Type.Optional(Text),
    prompt: Type.Optional(Text),
    login_hint: Type.Optional(Text),
    /** Seconds since the person has signed in. */
    max_age: Type.Optional(Text),
    acr_values: Type.Optional(Text),
    ui_locales: Type.Optional(Text),
    dpop_jkt: Type.Optional(Text),
    request: Type.Optional(Text),
    request_uri: Type.Optional(Text),
    /** Only in a pushed request, whose client is known. */
    principal_id: Type.Optional(Text),
  },
  { additionalProperties: true },
);

/** RFC 6749 §3.2. Other members are ignored. */
export type TokenRequest = Static<typeof TokenRequest>;
export const TokenRequest = Type.Object(
  {
    ...credentials,
    grant_type: Type.Optional(Text),
    code: Type.Optional(Text),
    credential_format: Type.Optional(Text),
    redirect_uri: Type.Optional(Text),
    code_verifier: Type.Optional(Text),
    refresh_token: Type.Optional(Text),
    device_code: Type.Optional(Text),
    auth_req_id: Type.Optional(Text),
    scope: Type.Optional(Text),
    resource: Type.Optional(Resources),
    subject_token: Type.Optional(Text),
    subject_token_type: Type.Optional(Text),
    assertion: Type.Optional(Type.String({ maxLength: 20_000 })),
    actor_token: Type.Optional(Text),
    actor_token_type: Type.Optional(Text),
    requested_token_type: Type.Optional(Text),
    audience: Type.Optional(Text),
    authorization_details: Type.Optional(Text),
    expires_in: Type.Optional(Text),
  },
  { additionalProperties: true },
);

export type TokenReference = Static<typeof TokenReference>;
export const TokenReference = Type.Object(
  { ...credentials, token: Type.Optional(Text), token_type_hint: Type.Optional(Text) },
  { additionalProperties: true },
);

/** RFC 7662 §2.2. When `active` is false, it is the only member. */
export const IntrospectionResponse = Type.Object({ active: Type.Boolean() }, { additionalProperties: true });

export type PushedAuthorizationResponse = Static<typeof PushedAuthorizationResponse>;
export const PushedAuthorizationResponse = Type.Object({
  request_uri: Type.String(),
  expires_in: Type.Integer(),
});

/** RFC 6749 §5.1, RFC 9396 §7, RFC 8693 §2.2.1. */
export type TokenResponse = Static<typeof TokenResponse>;
export const TokenResponse = Type.Object({
  access_token: Type.String(),
  token_type: Type.Enum(['Bearer', 'DPoP']),
  expires_in: Type.Integer(),
  scope: Type.String(),
  refresh_token: Type.Optional(Type.String()),
  issued_token_type: Type.Optional(Type.String()),
  /** The resources of a token that an assertion has named. */
  resource: Type.Optional(Texts),
  authorization_details: Type.Optional(Type.Array(Type.Unknown())),
  /** Absent from the tokens of receivers of signals, who have no grant. */
  'urn:service:grant': Type.Optional(Type.Object({ grant_id: Id })),
  /** There when `credential_format` asks for it. */
  verifiableCredential: Type.Optional(Type.String()),
  sdJwtCredential: Type.Optional(Type.String()),
});

const channelMembers = {
  ...credentials,
  scope: Type.Optional(Text),
  resource: Type.Optional(Resources),
  authorization_details: Type.Optional(Text),
  purpose: Type.Optional(Text),
  request: Type.Optional(Text),
};
export type ChannelRequest = Static<typeof ChannelRequest>;
export const ChannelRequest = Type.Object(channelMembers, { additionalProperties: true });

/** RFC 8628 §3.1. Other members are ignored. */
export type DeviceAuthorizationRequest = Static<typeof DeviceAuthorizationRequest>;
export const DeviceAuthorizationRequest = Type.Object(
  {
    ...channelMembers,
    /** Only in the sandbox. */
    login_hint: Type.Optional(Text),
    /** Only from a client that has authenticated itself. */
    principal_id: Type.Optional(Text),
  },
  { additionalProperties: true },
);

/** RFC 8628 §3.2. */
export type DeviceAuthorizationResponse = Static<typeof DeviceAuthorizationResponse>;
export const DeviceAuthorizationResponse = Type.Object({
  device_code: Type.String(),
  user_code: Type.String(),
  verification_uri: Type.String(),
  verification_uri_complete: Type.String(),
  expires_in: Type.Integer(),
  interval: Type.Integer(),
});

/** The code as a person types it: case, spaces and hyphens do not matter. */
export type UserCodeEntry = Static<typeof UserCodeEntry>;
export const UserCodeEntry = Type.Object(
  {
    userCode: Type.String({ minLength: 1, maxLength: 32 }),
    /** By which the developer's application names the person whom it has signed in for the code. */
    hint: Type.Optional(Type.String({ maxLength: 4096 })),
    /** The `ui_locales` of the page's address. */
    uiLocales: UiLocales,
  },
  { additionalProperties: false },
);

export type UserCodeQuestion = Static<typeof UserCodeQuestion>;
export const UserCodeQuestion = Type.Pick(UserCodeEntry, ['userCode'], { additionalProperties: false });

export type BrowserRedirect = Static<typeof BrowserRedirect>;
export const BrowserRedirect = Type.Object({
  /** The consent page, or the page at which the person signs in first. */
  redirectTo: Type.String(),
});

/** A browser that comes from the developer's application, which has signed the person in. */
export type ResumeAuthorizationRequest = Static<typeof ResumeAuthorizationRequest>;
export const ResumeAuthorizationRequest = Type.Object(
  {
    clientId: Type.String({ minLength: 1, maxLength: 1000 }),
    requestUri: Type.String({ minLength: 1, maxLength: 200 }),
    hint: Type.String({ minLength: 1, maxLength: 8192 }),
  },
  { additionalProperties: false },
);

/** OpenID CIBA Core 1.0 §7.1. Other members are ignored. */
export type BackchannelAuthenticationRequest = Static<typeof BackchannelAuthenticationRequest>;
export const BackchannelAuthenticationRequest = Type.Object(
  {
    ...channelMembers,
    login_hint: Type.Optional(Text),
    login_hint_token: Type.Optional(Text),
    id_token_hint: Type.Optional(Text),
    binding_message: Type.Optional(Text),
    requested_expiry: Type.Optional(Text),
    user_code: Type.Optional(Text),
  },
  { additionalProperties: true },
);

/** OpenID CIBA Core 1.0 §7.3. */
export type BackchannelAuthenticationResponse = Static<typeof BackchannelAuthenticationResponse>;
export const BackchannelAuthenticationResponse = Type.Object({
  auth_req_id: Type.String(),
  expires_in: Type.Integer(),
  interval: Type.Integer(),
});

/** A request that waits while its person shows a passkey, as the address of the page names it. */
const waiting = {
  clientId: Type.String({ minLength: 1, maxLength: 1000 }),
  requestUri: Type.String({ minLength: 1, maxLength: 200 }),
};

export type PasskeySignInRequest = Static<typeof PasskeySignInRequest>;
export const PasskeySignInRequest = Type.Object(waiting, { additionalProperties: false });

/** The account whose request waits, as pages show it. */
export type WaitingBrand = Static<typeof WaitingBrand>;
export const WaitingBrand = Type.Object({
  developerName: Type.String(),
  branding: Type.Optional(ShownBranding),
});

/** `publicKey` is for `PublicKeyCredential.parseRequestOptionsFromJSON`. It names no passkey. */
export const PasskeySignInOptions = Type.Object({ challengeId: Id, publicKey: OfStandard });

export type PasskeySignIn = Static<typeof PasskeySignIn>;
export const PasskeySignIn = Type.Object(
  { ...waiting, challengeId: Id, response: AssertionResponse },
  { additionalProperties: false },
);

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
export type ClientInformationResponse = Static<typeof ClientInformationResponse>;
export const ClientInformationResponse = Type.Object({
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

const TextList = Type.Array(Type.String());

/** RFC 8414 §2. */
export type AuthorizationServerMetadata = Static<typeof AuthorizationServerMetadata>;
export const AuthorizationServerMetadata = Type.Object({
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
  scopes_supported: TextList,
  response_types_supported: TextList,
  response_modes_supported: TextList,
  grant_types_supported: TextList,
  authorization_grant_profiles_supported: Type.Optional(TextList),
  code_challenge_methods_supported: TextList,
  token_endpoint_auth_methods_supported: TextList,
  token_endpoint_auth_signing_alg_values_supported: TextList,
  authorization_details_types_supported: TextList,
  dpop_signing_alg_values_supported: TextList,
  authorization_response_iss_parameter_supported: Type.Boolean(),
  client_id_metadata_document_supported: Type.Boolean(),
  require_pushed_authorization_requests: Type.Boolean(),
  backchannel_token_delivery_modes_supported: TextList,
  service_documentation: Type.Optional(Type.String()),
});

/** RFC 9728 §2. */
export type ProtectedResourceMetadata = Static<typeof ProtectedResourceMetadata>;
export const ProtectedResourceMetadata = Type.Object({
  resource: Type.String(),
  authorization_servers: TextList,
  bearer_methods_supported: TextList,
  resource_name: Type.String(),
  authorization_details_types_supported: TextList,
  dpop_signing_alg_values_supported: TextList,
  dpop_bound_access_tokens_required: Type.Boolean(),
});
