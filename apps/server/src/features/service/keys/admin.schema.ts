import { Time } from '@behest/protocol/shapes';
import { type Static, Type } from 'typebox';

const Maybe = Type.Union([Time, Type.Null()]);
const Alg = Type.Enum(['RS256', 'ES256']);

/** A key without its private half. The times are null where the settings alone hold the keys. */
export type ManagedKey = Static<typeof ManagedKey>;
export const ManagedKey = Type.Object({
  kid: Type.String(),
  alg: Alg,
  state: Type.Enum(['pending', 'active', 'retired', 'removed']),
  isSigning: Type.Boolean({ description: 'Whether it signs new tokens now.' }),
  publishedAt: Maybe,
  signsFrom: Type.Union([Time, Type.Null()], {
    description: 'The end of the activation delay. A key signs only after it.',
  }),
  activatedAt: Maybe,
  retiredAt: Maybe,
  removedAt: Maybe,
});

export type ManagedKeys = Static<typeof ManagedKeys>;
export const ManagedKeys = Type.Object({
  store: Type.Enum(['env', 'postgres']),
  keys: Type.Array(ManagedKey),
});

export type NewRotation = Static<typeof NewRotation>;
export const NewRotation = Type.Object({ alg: Type.Optional(Alg) }, { additionalProperties: false });

export const KeyPath = Type.Object({
  kid: Type.String({ pattern: '^service-(rs256|es256)-[A-Za-z0-9_-]{43}$' }),
});
