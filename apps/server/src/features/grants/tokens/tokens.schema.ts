import {
  Audience,
  Budget,
  BudgetInput,
  Duration,
  Id,
  NextCursor,
  pageQuery,
  ScopeList,
  Time,
} from '@behest/protocol/shapes';
import { type Static, Type } from 'typebox';

const Secret = Type.String({ minLength: 1, maxLength: 512 });
const RecordId = Type.String({ minLength: 1, maxLength: 256 });
const Details = Type.Array(Type.Unknown());

export type CodeExchange = Static<typeof CodeExchange>;
export const CodeExchange = Type.Object(
  {
    code: Secret,
    agentId: RecordId,
    /** RFC 7636 §4.1. */
    codeVerifier: Type.Optional(Type.String({ pattern: '^[A-Za-z0-9._~-]{43,128}$' })),
    redirectUri: Type.Optional(Type.String({ minLength: 1, maxLength: 2048 })),
    /** `both` is the token and the W3C credential, which `vc-jwt` gives too: a grant is of no use without its token. */
    credentialFormat: Type.Enum(['jwt', 'vc-jwt', 'sd-jwt', 'both'], { default: 'jwt' }),
  },
  { additionalProperties: false },
);

export type RefreshTokenRequest = Static<typeof RefreshTokenRequest>;
export const RefreshTokenRequest = Type.Object(
  { refreshToken: Secret, agentId: RecordId },
  { additionalProperties: false },
);

export type IssuedTokens = Static<typeof IssuedTokens>;
export const IssuedTokens = Type.Object({
  grantToken: Type.String(),
  tokenType: Type.Literal('Bearer'),
  expiresAt: Time,
  refreshToken: Type.String(),
  refreshExpiresAt: Time,
  grantId: Id,
  grantExpiresAt: Time,
  agentId: Id,
  principalId: Type.String(),
  scopes: Type.Array(Type.String()),
  audience: Type.Optional(Type.String()),
  purpose: Type.Optional(Type.String()),
  authorizationDetails: Type.Optional(Details),
  /** The rest that the token states. `amount` is there where the grant has a budget of its own. */
  budget: Type.Optional(Type.Object({ ...Budget.properties, amount: Type.Optional(Type.String()) })),
  sandbox: Type.Optional(Type.Literal(true)),
});

export type ExchangedTokens = Static<typeof ExchangedTokens>;
export const ExchangedTokens = Type.Object({
  ...IssuedTokens.properties,
  /** There when `credentialFormat` asks for it. */
  verifiableCredential: Type.Optional(Type.String()),
  sdJwtCredential: Type.Optional(Type.String()),
});

/** Any text: a text that cannot be a token gets the same answer as an invalid token. */
const AnyToken = Type.String({ minLength: 1 });

export type VerifyTokenRequest = Static<typeof VerifyTokenRequest>;
export const VerifyTokenRequest = Type.Object(
  {
    token: AnyToken,
    audience: Type.Optional(Type.String({ minLength: 1, maxLength: 1024 })),
    requiredScopes: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 256 }), { maxItems: 100 }),
    ),
  },
  { additionalProperties: false },
);

/** RFC 9449 §6.2: the key by whose proof the token is used. The asker checks the proof. */
const Confirmation = Type.Object({ jkt: Type.String() });

/** For an invalid token, `valid` is the only member, and the reason when the token is the caller's own. */
export type TokenVerification = Static<typeof TokenVerification>;
export const TokenVerification = Type.Object({
  valid: Type.Boolean(),
  reason: Type.Optional(
    Type.Enum(['expired', 'revoked', 'grant_inactive', 'agent_inactive', 'audience', 'scope']),
  ),
  grantId: Type.Optional(Id),
  scopes: Type.Optional(Type.Array(Type.String())),
  principal: Type.Optional(Type.String()),
  agent: Type.Optional(Type.String()),
  expiresAt: Type.Optional(Time),
  tokenId: Type.Optional(Id),
  agentId: Type.Optional(Id),
  agentDid: Type.Optional(Type.String()),
  principalId: Type.Optional(Type.String()),
  developerId: Type.Optional(Id),
  issuedAt: Type.Optional(Time),
  delegationDepth: Type.Optional(Type.Integer()),
  audience: Type.Optional(Type.String()),
  cnf: Type.Optional(Confirmation),
  purpose: Type.Optional(Type.String()),
  authorizationDetails: Type.Optional(Details),
  parentGrantId: Type.Optional(Id),
  /** The person has to consent again before the grant gives more tokens. */
  reconsentRequired: Type.Optional(Type.Literal(true)),
  sandbox: Type.Optional(Type.Literal(true)),
});

export const VerifyGrantRequest = Type.Object({ token: AnyToken }, { additionalProperties: false });

export type GrantVerification = Static<typeof GrantVerification>;
export const GrantVerification = Type.Object({
  active: Type.Boolean(),
  reason: Type.Optional(Type.Enum(['revoked', 'expired', 'not_found', 'agent_inactive'])),
  claims: Type.Optional(Type.Object({}, { additionalProperties: true })),
});

export type RevokeTokenRequest = Static<typeof RevokeTokenRequest>;
export const RevokeTokenRequest = Type.Object(
  {
    jti: Type.Optional(Type.String({ minLength: 1, maxLength: 512 })),
    token: Type.Optional(AnyToken),
  },
  { additionalProperties: false },
);

/** RFC 7662 §2.1. Other members are ignored. */
export type IntrospectTokenRequest = Static<typeof IntrospectTokenRequest>;
export const IntrospectTokenRequest = Type.Object(
  { token: AnyToken, token_type_hint: Type.Optional(Type.String({ maxLength: 256 })) },
  { additionalProperties: true },
);

/** RFC 7662 §2.2. When `active` is false, it is the only member. */
export type TokenIntrospection = Static<typeof TokenIntrospection>;
export const TokenIntrospection = Type.Object({
  active: Type.Boolean(),
  scope: Type.Optional(Type.String()),
  client_id: Type.Optional(Type.String()),
  token_type: Type.Optional(Type.Enum(['Bearer', 'DPoP'])),
  exp: Type.Optional(Type.Integer()),
  iat: Type.Optional(Type.Integer()),
  nbf: Type.Optional(Type.Integer()),
  sub: Type.Optional(Type.String()),
  aud: Type.Optional(Type.Union([Type.String(), Type.Array(Type.String())])),
  cnf: Type.Optional(Confirmation),
  iss: Type.Optional(Type.String()),
  jti: Type.Optional(Type.String()),
  act: Type.Optional(Type.Object({}, { additionalProperties: true })),
  authorization_details: Type.Optional(Details),
  dev: Type.Optional(Type.String()),
  'urn:service:grant': Type.Optional(Type.Object({}, { additionalProperties: true })),
});

export const GrantPath = Type.Object({ id: Id });

export type TokenQuery = Static<typeof TokenQuery>;
export const TokenQuery = Type.Object(pageQuery('tok'));

export type TokenPage = Static<typeof TokenPage>;
export const TokenPage = Type.Object({
  tokens: Type.Array(
    Type.Object({
      tokenId: Id,
      issuedAt: Time,
      expiresAt: Time,
      status: Type.Enum(['active', 'revoked', 'expired']),
      revokedAt: Type.Optional(Time),
    }),
  ),
  nextCursor: NextCursor,
});

export type DelegationRequest = Static<typeof DelegationRequest>;
export const DelegationRequest = Type.Object(
  {
    /** Any length: a text that cannot be a token is refused like every invalid token. */
    parentGrantToken: Type.String({ minLength: 1 }),
    subAgentId: Type.String({ minLength: 1, maxLength: 256 }),
    scopes: ScopeList,
    expiresIn: Type.String({ ...Duration, default: '1h' }),
    tokenExpiresIn: Type.Optional(Duration),
    audience: Type.Optional(Audience),
    /** The protocol's own reader checks the entries and names every fault. */
    authorizationDetails: Type.Optional(Type.Array(Type.Unknown(), { maxItems: 20 })),
    purpose: Type.Optional(Type.String({ maxLength: 128 })),
    budget: Type.Optional(BudgetInput),
    credentialFormat: Type.Enum(['jwt', 'vc-jwt', 'both'], { default: 'jwt' }),
  },
  { additionalProperties: false },
);

export type DelegatedTokens = Static<typeof DelegatedTokens>;
export const DelegatedTokens = Type.Object({
  ...IssuedTokens.properties,
  /** Null for a grant that only narrows: its agent, or an agent above it, made it for itself. */
  refreshToken: Type.Union([Type.String(), Type.Null()]),
  refreshExpiresAt: Type.Union([Time, Type.Null()]),
  parentGrantId: Id,
  delegationDepth: Type.Integer(),
  /** There when `credentialFormat` asks for it. */
  verifiableCredential: Type.Optional(Type.String()),
});
