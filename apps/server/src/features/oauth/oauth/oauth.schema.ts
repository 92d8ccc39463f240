import { Id, Time } from '@behest/protocol/shapes';
import { type Static, Type } from 'typebox';

const AuthMethod = Type.Enum([
  ...(['none', 'client_secret_basic', 'client_secret_post', 'private_key_jwt'] as const),
  'workload_jwt',
]);

export type ClientSettings = Static<typeof ClientSettings>;
export const ClientSettings = Type.Object(
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

export type ClientRecord = Static<typeof ClientRecord>;
export const ClientRecord = Type.Object({
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

export const Text = Type.String({ maxLength: 16_384 });
/** Members by which a client proves itself (RFC 6749 §2.3.1, RFC 7521 §4.2). */
export const credentials = {
  client_id: Type.Optional(Text),
  client_secret: Type.Optional(Text),
  client_assertion_type: Type.Optional(Text),
  client_assertion: Type.Optional(Text),
};
const Texts = Type.Array(Type.String());
export const Resources = Type.Array(Type.String({ minLength: 1, maxLength: 1024 }), { maxItems: 5 });

/** RFC 6749 §4.1.1 and the specifications that add to it. Other members are ignored. */
export type AuthorizationForm = Static<typeof AuthorizationForm>;
export const AuthorizationForm = Type.Object(
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
export type TokenForm = Static<typeof TokenForm>;
export const TokenForm = Type.Object(
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

export type TokenQuestion = Static<typeof TokenQuestion>;
export const TokenQuestion = Type.Object(
  { ...credentials, token: Type.Optional(Text), token_type_hint: Type.Optional(Text) },
  { additionalProperties: true },
);

/** RFC 7662 §2.2. When `active` is false, it is the only member. */
export const ToldToken = Type.Object({ active: Type.Boolean() }, { additionalProperties: true });

export type PushedRequest = Static<typeof PushedRequest>;
export const PushedRequest = Type.Object({ request_uri: Type.String(), expires_in: Type.Integer() });

/** RFC 6749 §5.1, RFC 9396 §7, RFC 8693 §2.2.1. */
export type TokenAnswer = Static<typeof TokenAnswer>;
export const TokenAnswer = Type.Object({
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
