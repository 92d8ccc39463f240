import { type Static, Type } from 'typebox';

export const Alive = Type.Object({ status: Type.Literal('ok') });

export type Health = Static<typeof Health>;
export const Health = Type.Object({
  status: Type.Enum(['ok', 'degraded']),
  failing: Type.Optional(Type.Array(Type.Enum(['db', 'redis']))),
});
