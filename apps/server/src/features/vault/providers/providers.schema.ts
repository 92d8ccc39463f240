import { Id, NextCursor, nameOf, pageQuery, recordOf, Time, VaultService } from '@behest/protocol/shapes';
import { type Static, type TSchema, Type } from 'typebox';

const nullable = <Shape extends TSchema>(shape: Shape) => Type.Union([shape, Type.Null()]);

const Url = Type.String({ minLength: 1, maxLength: 2048 });
/** RFC 6749, section 3.3. */
const UpstreamScope = Type.String({ minLength: 1, maxLength: 256, pattern: '^[!#-\\[\\]-~]+$' });
const Scopes = Type.Array(UpstreamScope, { maxItems: 50 });
/** RFC 6901. */
const Pointer = Type.String({ maxLength: 256, pattern: '^(/[^/]*)*$' });

const Kind = Type.Enum(['oidc', 'oauth2', 'mcp']);
export type AuthMethod = Static<typeof AuthMethod>;
const AuthMethod = Type.Enum(['client_secret_basic', 'client_secret_post', 'private_key_jwt', 'none']);

/** Where an answer of the upstream names the account. */
const Account = Type.Object(
  { source: Type.Enum(['id_token', 'userinfo', 'token']), id: Pointer, label: Type.Optional(Pointer) },
  { additionalProperties: false },
);

const changeable = {
  issuer: Type.Optional(nullable(Url)),
  mcpUrl: Type.Optional(nullable(Url)),
  authorizationEndpoint: Type.Optional(nullable(Url)),
  tokenEndpoint: Type.Optional(nullable(Url)),
  revocationEndpoint: Type.Optional(nullable(Url)),
  userinfoEndpoint: Type.Optional(nullable(Url)),
  clientId: Type.Optional(nullable(Type.String({ minLength: 1, maxLength: 512, pattern: '^[ -~]+$' }))),
  clientSecret: Type.Optional(Type.String({ minLength: 1, maxLength: 1024, pattern: '^[ -~]+$' })),
  authMethod: Type.Optional(AuthMethod),
  scopes: Type.Optional(
    Type.Object(
      { required: Type.Optional(Scopes), optional: Type.Optional(Scopes) },
      { additionalProperties: false },
    ),
  ),
  /** Whether a connection without every required scope is stored. */
  acceptPartial: Type.Optional(Type.Boolean()),
  pkce: Type.Optional(Type.Enum(['required', 'unsupported'])),
  /** Parameters that are the same in every authorization request. */
  authorizeParams: Type.Optional(
    recordOf(
      Type.String({ pattern: '^[A-Za-z0-9_.-]{1,64}$' }),
      Type.String({ maxLength: 256, pattern: '^[ -~]*$' }),
      { maxProperties: 10 },
    ),
  ),
  account: Type.Optional(nullable(Account)),
  scopeSeparator: Type.Optional(Type.Enum([' ', ','])),
  /** How long an access token is taken to live when the upstream does not say it; null means without end. */
  tokenLifetimeSeconds: Type.Optional(nullable(Type.Integer({ minimum: 60, maximum: 31_536_000 }))),
  tokenPointers: Type.Optional(
    Type.Object(
      {
        accessToken: Type.Optional(Pointer),
        refreshToken: Type.Optional(Pointer),
        expiresIn: Type.Optional(Pointer),
        scope: Type.Optional(Pointer),
      },
      { additionalProperties: false },
    ),
  ),
};

export type NewProvider = Static<typeof NewProvider>;
export const NewProvider = Type.Object(
  {
    service: VaultService,
    name: Type.Optional(nameOf(100)),
    kind: Type.Optional(Kind),
    preset: Type.Optional(nullable(Type.String({ pattern: '^[a-z0-9-]{1,32}$' }))),
    ...changeable,
  },
  { additionalProperties: false },
);

export type ProviderChange = Static<typeof ProviderChange>;
export const ProviderChange = Type.Object(
  {
    name: Type.Optional(nameOf(100)),
    status: Type.Optional(Type.Enum(['active', 'paused'])),
    ...changeable,
  },
  { additionalProperties: false, minProperties: 1 },
);

/** The upstream as the developer and a preset describe it. No member is secret. */
export interface ProviderSettings {
  readonly kind: Static<typeof Kind>;
  readonly preset: string | null;
  readonly issuer: string | null;
  readonly mcpUrl: string | null;
  readonly authorizationEndpoint: string | null;
  readonly tokenEndpoint: string | null;
  readonly revocationEndpoint: string | null;
  readonly userinfoEndpoint: string | null;
  readonly clientId: string | null;
  readonly authMethod: AuthMethod | null;
  readonly scopes: { readonly required: readonly string[]; readonly optional: readonly string[] };
  readonly acceptPartial: boolean;
  readonly pkce: 'required' | 'unsupported';
  readonly authorizeParams: Readonly<Record<string, string>>;
  readonly account: Static<typeof Account> | null;
  readonly scopeSeparator: ' ' | ',';
  readonly tokenPointers: TokenPointers;
  /** Absent in providers of before. */
  readonly tokenLifetimeSeconds?: number | null;
}

/** Where the members of a token endpoint's answer are, for upstreams that nest them. */
export interface TokenPointers {
  readonly accessToken?: string;
  readonly refreshToken?: string;
  readonly expiresIn?: string;
  readonly scope?: string;
}

export type Provider = Static<typeof Provider>;
export const Provider = Type.Object({
  id: Id,
  providerId: Id,
  service: Type.String(),
  name: Type.String(),
  kind: Kind,
  preset: nullable(Type.String()),
  issuer: nullable(Type.String()),
  mcpUrl: nullable(Type.String()),
  authorizationEndpoint: Type.String(),
  tokenEndpoint: Type.String(),
  revocationEndpoint: nullable(Type.String()),
  userinfoEndpoint: nullable(Type.String()),
  parEndpoint: nullable(Type.String()),
  jwksUri: nullable(Type.String()),
  clientId: Type.String(),
  clientSource: Type.Enum(['static', 'cimd', 'dcr']),
  hasClientSecret: Type.Boolean(),
  authMethod: AuthMethod,
  scopes: Type.Object({ required: Type.Array(Type.String()), optional: Type.Array(Type.String()) }),
  acceptPartial: Type.Boolean(),
  pkce: Type.Enum(['required', 'unsupported']),
  authorizeParams: recordOf(Type.String(), Type.String()),
  account: nullable(Account),
  scopeSeparator: Type.String(),
  tokenPointers: Type.Object({}, { additionalProperties: true }),
  tokenLifetimeSeconds: nullable(Type.Integer()),
  /** The address that the developer registers at the upstream. */
  redirectUri: Type.String(),
  status: Type.Enum(['active', 'paused', 'error']),
  lastDiscoveredAt: nullable(Time),
  lastError: nullable(Type.String()),
  createdAt: Time,
  updatedAt: Time,
});

export const ProviderPath = Type.Object({ id: Id });

export type ProviderQuery = Static<typeof ProviderQuery>;
export const ProviderQuery = Type.Object(pageQuery('prov'));

export type ProviderPage = Static<typeof ProviderPage>;
export const ProviderPage = Type.Object({ providers: Type.Array(Provider), nextCursor: NextCursor });

export const ProviderPresets = Type.Object({
  presets: Type.Array(
    Type.Object({ preset: Type.String(), name: Type.String(), kind: Kind, open: Type.Array(Type.String()) }),
  ),
});

/** RFC 7591 and the Client ID Metadata Document: the service as an upstream's client. */
export type ClientDocument = Static<typeof ClientDocument>;
export const ClientDocument = Type.Object({
  client_id: Type.Optional(Type.String()),
  client_name: Type.String(),
  redirect_uris: Type.Array(Type.String()),
  grant_types: Type.Array(Type.String()),
  response_types: Type.Array(Type.String()),
  token_endpoint_auth_method: Type.String(),
  application_type: Type.Optional(Type.String()),
  jwks: Type.Optional(Type.Object({ keys: Type.Array(Type.Object({}, { additionalProperties: true })) })),
});
