import { Duration, Id, NextCursor, pageQuery, ScopeList, Time } from '@behest/protocol/shapes';
import { type Static, Type } from 'typebox';

const nullable = <Shape extends Parameters<typeof Type.Optional>[0]>(shape: Shape) =>
  Type.Union([shape, Type.Null()]);

export const ACKNOWLEDGED = 'no personal consent';

export type NewIdJagTrust = Static<typeof NewIdJagTrust>;
export const NewIdJagTrust = Type.Object(
  {
    enabled: Type.Boolean(),
    acknowledge: Type.Optional(Type.Literal(ACKNOWLEDGED)),
    tenant: Type.Union([Type.String({ minLength: 1, maxLength: 256 }), Type.Null()], { default: null }),
    maxAssertionSeconds: Type.Integer({ minimum: 60, maximum: 3600, default: 900 }),
  },
  { additionalProperties: false },
);

export type IdJagTrust = Static<typeof IdJagTrust>;
export const IdJagTrust = Type.Object({
  connectionId: Id,
  enabled: Type.Boolean(),
  tenant: nullable(Type.String()),
  maxAssertionSeconds: Type.Integer(),
  createdAt: Time,
  updatedAt: Time,
});

const Scopes = Type.Array(Type.String(), { maxItems: 100 });
const Resources = nullable(
  Type.Array(Type.String({ minLength: 1, maxLength: 1024 }), { minItems: 1, maxItems: 20 }),
);
const Seconds = Type.Integer({ minimum: 60, maximum: 3600 });
const AuthAge = nullable(Type.Integer({ minimum: 60, maximum: 2_592_000 }));
const Amr = Type.Array(Type.String({ minLength: 1, maxLength: 64 }), { maxItems: 10 });
/** The protocol's own reader checks the entries and names every fault. */
const Details = Type.Array(Type.Unknown(), { maxItems: 20 });
const Status = Type.Enum(['active', 'paused']);

export type NewIdJagClientRule = Static<typeof NewIdJagClientRule>;
export const NewIdJagClientRule = Type.Object(
  {
    clientId: Type.String({ minLength: 1, maxLength: 512 }),
    scopes: ScopeList,
    defaultScopes: Type.Array(Type.String(), { maxItems: 100, default: [] }),
    resources: Type.Union([...Resources.anyOf], { default: null }),
    authorizationDetails: Type.Array(Type.Unknown(), { maxItems: 20, default: [] }),
    tokenTtlSeconds: Type.Integer({ minimum: 60, maximum: 3600, default: 3600 }),
    grantTtl: Type.String({ ...Duration, default: '30d' }),
    maxAuthAgeSeconds: Type.Optional(AuthAge),
    requireAmr: Type.Array(Type.String({ minLength: 1, maxLength: 64 }), { maxItems: 10, default: [] }),
    allowPublic: Type.Boolean({ default: false }),
    status: Type.Enum(['active', 'paused'], { default: 'active' }),
  },
  { additionalProperties: false },
);

export type IdJagClientRuleChange = Static<typeof IdJagClientRuleChange>;
export const IdJagClientRuleChange = Type.Object(
  {
    scopes: Type.Optional(ScopeList),
    defaultScopes: Type.Optional(Scopes),
    resources: Type.Optional(Resources),
    authorizationDetails: Type.Optional(Details),
    tokenTtlSeconds: Type.Optional(Seconds),
    grantTtl: Type.Optional(Duration),
    maxAuthAgeSeconds: Type.Optional(AuthAge),
    requireAmr: Type.Optional(Amr),
    allowPublic: Type.Optional(Type.Boolean()),
    status: Type.Optional(Status),
  },
  { additionalProperties: false, minProperties: 1 },
);

/** `id` and `clientRuleId` are equal, as in other records. */
export type IdJagClientRule = Static<typeof IdJagClientRule>;
export const IdJagClientRule = Type.Object({
  id: Id,
  clientRuleId: Id,
  connectionId: Id,
  clientId: Type.String(),
  agentId: Id,
  scopes: Type.Array(Type.String()),
  defaultScopes: Type.Array(Type.String()),
  resources: nullable(Type.Array(Type.String())),
  authorizationDetails: Type.Array(Type.Unknown()),
  tokenTtlSeconds: Type.Integer(),
  grantTtl: Type.String(),
  maxAuthAgeSeconds: nullable(Type.Integer()),
  requireAmr: Type.Array(Type.String()),
  allowPublic: Type.Boolean(),
  status: Status,
  createdAt: Time,
  updatedAt: Time,
});

export type IdJagClientRuleQuery = Static<typeof IdJagClientRuleQuery>;
export const IdJagClientRuleQuery = Type.Object(pageQuery('idc'));
export type IdJagClientRulePage = Static<typeof IdJagClientRulePage>;
export const IdJagClientRulePage = Type.Object({
  clients: Type.Array(IdJagClientRule),
  nextCursor: NextCursor,
});

export const ConnectionPath = Type.Object({ id: Id });
export const IdJagClientRulePath = Type.Object({ id: Id, clientRuleId: Id });

export type AssertionStopQuery = Static<typeof AssertionStopQuery>;
export const AssertionStopQuery = Type.Object(pageQuery('ids'));
export type AssertionStop = Static<typeof AssertionStop>;
export const AssertionStop = Type.Object({
  id: Id,
  stopId: Id,
  agentId: Id,
  /** Null after the agent was removed. */
  agentName: nullable(Type.String()),
  principalId: Type.String(),
  grantId: Id,
  by: Type.Enum(['developer', 'principal', 'anomaly', 'policy', 'admin']),
  createdAt: Time,
});
export type AssertionStopPage = Static<typeof AssertionStopPage>;
export const AssertionStopPage = Type.Object({ stops: Type.Array(AssertionStop), nextCursor: NextCursor });
export const AssertionStopPath = Type.Object({ id: Id });
