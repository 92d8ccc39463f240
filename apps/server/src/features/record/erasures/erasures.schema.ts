import { Id, PrincipalId, Time } from '@behest/protocol/shapes';
import { type Static, Type } from 'typebox';

export type NewErasure = Static<typeof NewErasure>;
export const NewErasure = Type.Object(
  {
    principalId: PrincipalId,
    /** Kept beside the erasure, and not in the audit log. */
    reason: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
  },
  { additionalProperties: false },
);

const Status = Type.Enum(['running', 'done']);

export type CreatedErasure = Static<typeof CreatedErasure>;
export const CreatedErasure = Type.Object({ erasureId: Id, status: Status });

export type Erasure = Static<typeof Erasure>;
export const Erasure = Type.Object({
  erasureId: Id,
  status: Status,
  /** The entries that were erased until now. */
  entries: Type.Integer(),
  /** Entries that were left as they are, because they are not what was hashed. */
  brokenEntries: Type.Integer(),
  finishedAt: Type.Union([Time, Type.Null()]),
});

export const ErasurePath = Type.Object({ id: Id });
