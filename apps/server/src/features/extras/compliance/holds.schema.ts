import { Id, NextCursor, nameOf, PrincipalId, pageQuery, Time } from '@behest/protocol/shapes';
import { type Static, type TSchema, Type } from 'typebox';

const orNull = <Shape extends TSchema>(shape: Shape) => Type.Union([shape, Type.Null()]);

export type NewHold = Static<typeof NewHold>;
export const NewHold = Type.Object(
  {
    name: nameOf(200),
    reason: Type.Optional(Type.String({ minLength: 1, maxLength: 2000 })),
    /** The person whom the matter is about. Without it, the hold is about the whole account. */
    principalId: Type.Optional(PrincipalId),
  },
  { additionalProperties: false },
);

export type Hold = Static<typeof Hold>;
export const Hold = Type.Object({
  id: Id,
  name: Type.String(),
  reason: orNull(Type.String()),
  principalId: orNull(Type.String()),
  createdAt: Time,
  releasedAt: orNull(Time),
});

export const HoldPath = Type.Object({ id: Id });

export type HoldQuery = Static<typeof HoldQuery>;
export const HoldQuery = Type.Object({
  ...pageQuery('hold'),
  /** Only those that were not released. */
  standing: Type.Optional(Type.Literal('true')),
});

export type HoldPage = Static<typeof HoldPage>;
export const HoldPage = Type.Object({ holds: Type.Array(Hold), nextCursor: NextCursor });

export const NoFields = Type.Object({}, { additionalProperties: false });
