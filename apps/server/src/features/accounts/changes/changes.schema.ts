import { Id, NextCursor, pageQuery, Time } from '@behest/protocol/shapes';
import { type Static, Type } from 'typebox';

const Status = Type.Enum(['open', 'applied', 'withdrawn', 'expired']);
const Json = Type.Object({}, { additionalProperties: true });

export type LooseningChange = Static<typeof LooseningChange>;
/** `changeId` and `id` are equal. */
export const LooseningChange = Type.Object({
  id: Id,
  changeId: Id,
  status: Status,
  operation: Type.String({ description: 'The operation that was asked for.' }),
  about: Type.String(),
  difference: Type.Object(
    {},
    { additionalProperties: true, description: 'What would be other than it is, or was.' },
  ),
  params: Type.Union([Json, Type.Null()]),
  body: Type.Union([Json, Type.Null()], { description: 'The request. Null once it is decided.' }),
  hash: Type.String({ description: 'SHA-256 over the request. Who agrees repeats it.' }),
  proposedBy: Type.String({ description: 'The actor who asked for it.' }),
  approvedBy: Type.Array(Type.String(), { description: 'The members who agreed.' }),
  needed: Type.Integer({ description: 'How many members have to agree: two where an API key asked.' }),
  createdAt: Time,
  expiresAt: Time,
  decidedAt: Type.Union([Time, Type.Null()]),
});

export type ChangeQuery = Static<typeof ChangeQuery>;
export const ChangeQuery = Type.Object({ status: Type.Optional(Type.Enum(['open'])), ...pageQuery('chg') });

export type ChangePage = Static<typeof ChangePage>;
export const ChangePage = Type.Object({ changes: Type.Array(LooseningChange), nextCursor: NextCursor });

export const ChangePath = Type.Object({ id: Id });

export type ChangeApproval = Static<typeof ChangeApproval>;
export const ChangeApproval = Type.Object(
  { hash: Type.String({ pattern: '^[0-9a-f]{64}$', description: 'Of the change, as it was shown.' }) },
  { additionalProperties: false },
);
