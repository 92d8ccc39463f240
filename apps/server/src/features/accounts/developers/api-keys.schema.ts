import { Duration, Id, NextCursor, nameOf, pageQuery, Time } from '@behest/protocol/shapes';
import { type Static, Type } from 'typebox';

const Role = Type.Enum(['full', 'runtime']);
const NullableTime = Type.Union([Time, Type.Null()]);

const members = {
  id: Id,
  keyId: Id,
  name: Type.String(),
  role: Role,
  prefix: Type.String(),
  createdAt: Time,
  lastUsedAt: NullableTime,
  expiresAt: NullableTime,
  status: Type.Enum(['active', 'expiring', 'expired', 'revoked']),
  /** Null: the key is not bound, and knows all agents. */
  agentIds: Type.Union([Type.Array(Id), Type.Null()]),
};
export type ApiKey = Static<typeof ApiKey>;
export const ApiKey = Type.Object({ ...members, current: Type.Optional(Type.Boolean()) });

export type ApiKeyPage = Static<typeof ApiKeyPage>;
export const ApiKeyPage = Type.Object({ keys: Type.Array(ApiKey), nextCursor: NextCursor });

export type ApiKeyQuery = Static<typeof ApiKeyQuery>;
export const ApiKeyQuery = Type.Object(pageQuery('key'));

const BoundAgents = Type.Array(Type.String({ minLength: 1, maxLength: 256 }), { minItems: 1, maxItems: 50 });

export type NewApiKey = Static<typeof NewApiKey>;
export const NewApiKey = Type.Object(
  {
    name: nameOf(100),
    role: Type.Enum(['full', 'runtime'], { default: 'full' }),
    expiresIn: Type.Optional(Duration),
    agentIds: Type.Optional(Type.Union([BoundAgents, Type.Null()])),
  },
  { additionalProperties: false },
);

/** `apiKey` is the key itself. Only this answer shows it. */
export type CreatedApiKey = Static<typeof CreatedApiKey>;
export const CreatedApiKey = Type.Object({ ...members, apiKey: Type.String() });

export type RotateApiKey = Static<typeof RotateApiKey>;
export const RotateApiKey = Type.Object(
  {
    name: Type.Optional(nameOf(100)),
    graceSeconds: Type.Integer({ minimum: 0, maximum: 604_800, default: 0 }),
  },
  { additionalProperties: false },
);

export type RotatedApiKey = Static<typeof RotatedApiKey>;
export const RotatedApiKey = Type.Object({
  apiKey: Type.String(),
  keyId: Id,
  rotatedAt: Time,
  previousKeyExpiresAt: Time,
});

export const ApiKeyPath = Type.Object({ id: Id });
