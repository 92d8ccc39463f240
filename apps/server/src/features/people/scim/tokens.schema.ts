import { Id, NextCursor, nameOf, pageQuery, Time } from '@behest/protocol/shapes';
import { type Static, Type } from 'typebox';

const NullableTime = Type.Union([Time, Type.Null()]);

export type NewScimToken = Static<typeof NewScimToken>;
export const NewScimToken = Type.Object(
  { label: nameOf(100), expiresAt: Type.Optional(Time) },
  { additionalProperties: false },
);

export type ScimToken = Static<typeof ScimToken>;
export const ScimToken = Type.Object({
  id: Id,
  label: Type.String(),
  createdAt: Time,
  lastUsedAt: NullableTime,
  expiresAt: NullableTime,
});

export type CreatedScimToken = Static<typeof CreatedScimToken>;
export const CreatedScimToken = Type.Object({ ...ScimToken.properties, token: Type.String() });

export const ScimTokenPath = Type.Object({ id: Id });

export type ScimTokenQuery = Static<typeof ScimTokenQuery>;
export const ScimTokenQuery = Type.Object(pageQuery('scimtok'));

export type ScimTokenPage = Static<typeof ScimTokenPage>;
export const ScimTokenPage = Type.Object({ tokens: Type.Array(ScimToken), nextCursor: NextCursor });
