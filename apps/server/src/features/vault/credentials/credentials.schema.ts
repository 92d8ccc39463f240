import { ProxyLimits } from '@behest/protocol/proxy-rules';
import { Id, NextCursor, PrincipalId, pageQuery, Time } from '@behest/protocol/shapes';
import { type Static, Type } from 'typebox';

const NullableTime = Type.Union([Time, Type.Null()]);
/** An upstream token. Its bytes are counted by `mustBeStorable`. */
const Secret = Type.String({ minLength: 1, maxLength: 16_384 });
/** A name that is compared byte for byte. */
const Service = Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$' });
const CredentialType = Type.String({ pattern: '^[a-z0-9][a-z0-9_.-]{0,31}$', default: 'oauth2' });

/** A minute to a year. */
const TokenLifetime = Type.Integer({ minimum: 60, maximum: 31_536_000 });
const Url = Type.String({ minLength: 1, maxLength: 2048 });

/** How the service gets new tokens from the upstream's token endpoint. */
export type RefreshSettings = Static<typeof RefreshSettings>;
const RefreshSettings = Type.Object(
  {
    tokenEndpoint: Url,
    clientId: Type.String({ minLength: 1, maxLength: 512 }),
    clientSecret: Type.Optional(Type.String({ minLength: 1, maxLength: 1024 })),
    authMethod: Type.Optional(Type.Enum(['client_secret_basic', 'client_secret_post', 'none'])),
    scope: Type.Optional(Type.String({ minLength: 1, maxLength: 2048 })),
    revocationEndpoint: Type.Optional(Url),
    /** How long an access token is taken to live when the upstream does not say it. */
    tokenLifetimeSeconds: Type.Optional(TokenLifetime),
  },
  { additionalProperties: false },
);

export type NewVaultCredential = Static<typeof NewVaultCredential>;
export const NewVaultCredential = Type.Object(
  {
    principalId: PrincipalId,
    service: Service,
    accessToken: Secret,
    refreshToken: Type.Optional(Type.Union([Secret, Type.Null()])),
    credentialType: CredentialType,
    tokenExpiresAt: Type.Optional(NullableTime),
    metadata: Type.Object({}, { additionalProperties: true, default: {} }),
    refresh: Type.Optional(Type.Union([RefreshSettings, Type.Null()])),
    proxy: Type.Optional(Type.Union([ProxyLimits, Type.Null()])),
  },
  { additionalProperties: false },
);

const RefreshStatus = Type.Enum(['none', 'ok', 'failed']);
const Metadata = Type.Object({}, { additionalProperties: true });

/** The profile of the service as it was when the credential was stored. A later profile only tightens. */
export type FrozenProfile = Static<typeof FrozenProfile>;
const FrozenProfile = Type.Object({
  origins: Type.Array(Type.String()),
  exchange: Type.Enum(['allowed', 'proxy_only']),
});

/** The limits of a credential in the proxy, as they are stored. */
export type StoredProxy = Static<typeof StoredProxy>;
export const StoredProxy = Type.Object({ ...ProxyLimits.properties, frozen: FrozenProfile });

const shown = {
  id: Id,
  principalId: Type.String(),
  service: Type.String(),
  credentialType: Type.String(),
  tokenExpiresAt: NullableTime,
  metadata: Metadata,
  createdAt: Time,
  updatedAt: Time,
  /** Whether the vault holds an upstream refresh token. */
  hasRefreshToken: Type.Boolean(),
  refreshStatus: RefreshStatus,
  /** Null without limits and without a profile: the proxy sends such a credential nowhere. */
  proxy: Type.Union([StoredProxy, Type.Null()]),
};

export type StoredCredential = Static<typeof StoredCredential>;
export const StoredCredential = Type.Object({ ...shown, replaced: Type.Boolean() });

const Texts = Type.Array(Type.String());

/** The connection of a credential that a person connected. */
export type Connection = Static<typeof Connection>;
export const Connection = Type.Object({
  providerId: Id,
  account: Type.Union([
    Type.Object({ id: Type.String(), label: Type.Union([Type.String(), Type.Null()]) }),
    Type.Null(),
  ]),
  scopesAsked: Texts,
  scopesGranted: Texts,
  missingScopes: Texts,
  status: Type.Enum(['connected', 'reauthorization_required']),
  reason: Type.Union([Type.String(), Type.Null()]),
  connectedAt: Time,
  /** How the person proved to be the principal. */
  method: Type.String(),
  refreshTokenExpiresAt: NullableTime,
});

export type VaultCredential = Static<typeof VaultCredential>;
export const VaultCredential = Type.Object({
  ...shown,
  lastExchangedAt: NullableTime,
  /** The vault key that seals the record. */
  keyId: Type.String(),
  /** Null for a credential that was stored by API. */
  connection: Type.Union([Connection, Type.Null()]),
});

export const CredentialPath = Type.Object({ id: Id });

export type CredentialQuery = Static<typeof CredentialQuery>;
export const CredentialQuery = Type.Object({
  principalId: Type.Optional(Type.String({ maxLength: 256 })),
  service: Type.Optional(Type.String({ maxLength: 64 })),
  page: Type.Optional(Type.Integer({ minimum: 1 })),
  pageSize: Type.Optional(Type.Integer({ minimum: 1 })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 500 })),
  cursor: pageQuery('vault').cursor,
});

export type VaultCredentialPage = Static<typeof VaultCredentialPage>;
export const VaultCredentialPage = Type.Object({
  credentials: Type.Array(VaultCredential),
  total: Type.Integer(),
  page: Type.Integer(),
  pageSize: Type.Integer(),
  nextCursor: NextCursor,
});

export type CredentialExchange = Static<typeof CredentialExchange>;
export const CredentialExchange = Type.Object(
  {
    service: Service,
    /** The scopes that the agent needs at the upstream. They are looked at for connected accounts only. */
    upstreamScopes: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 256 }), { minItems: 1, maxItems: 50 }),
    ),
  },
  { additionalProperties: false },
);

export type ExchangedCredential = Static<typeof ExchangedCredential>;
export const ExchangedCredential = Type.Object({
  accessToken: Type.String(),
  service: Type.String(),
  credentialType: Type.String(),
  tokenExpiresAt: Type.Union([Time, Type.Null()]),
  metadata: Type.Object({}, { additionalProperties: true }),
});
