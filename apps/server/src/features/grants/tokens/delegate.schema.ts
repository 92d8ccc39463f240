import { Audience, BudgetInput, Duration, Id, ScopeList, Time } from '@behest/protocol/shapes';
import { type Static, Type } from 'typebox';
import { IssuedTokens } from './tokens.schema.ts';

export type Delegate = Static<typeof Delegate>;
export const Delegate = Type.Object(
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
