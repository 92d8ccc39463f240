import { Id, NextCursor, Time } from '@behest/protocol/shapes';
import { type Static, Type } from 'typebox';

export type OperatorEntry = Static<typeof OperatorEntry>;
export const OperatorEntry = Type.Object({
  id: Id,
  seq: Type.Integer(),
  developerId: Type.Literal('operator'),
  action: Type.String(),
  metadata: Type.Object({}, { additionalProperties: true }),
  status: Type.Literal('success'),
  requestId: Type.String(),
  timestamp: Time,
  prevHash: Type.Union([Type.String(), Type.Null()]),
  hash: Type.String(),
});

export type OperatorEntryQuery = Static<typeof OperatorEntryQuery>;
export const OperatorEntryQuery = Type.Object({
  limit: Type.Integer({ minimum: 1, maximum: 500, default: 100 }),
  cursor: Type.Optional(Type.String({ pattern: '^[1-9][0-9]{0,14}$' })),
});

export type OperatorEntryPage = Static<typeof OperatorEntryPage>;
export const OperatorEntryPage = Type.Object({
  entries: Type.Array(OperatorEntry),
  nextCursor: NextCursor,
});
