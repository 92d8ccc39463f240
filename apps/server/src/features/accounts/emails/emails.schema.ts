import { Time, TrimmedEmail } from '@behest/protocol/shapes';
import { type Static, Type } from 'typebox';

export type NewVerification = Static<typeof NewVerification>;
export const NewVerification = Type.Object({ email: TrimmedEmail }, { additionalProperties: false });

export type SentLink = Static<typeof SentLink>;
export const SentLink = Type.Object({ message: Type.String(), expiresAt: Time });

export const LinkPath = Type.Object({ token: Type.String() });

export type ShownLink = Static<typeof ShownLink>;
export const ShownLink = Type.Object({
  message: Type.String(),
  email: Type.String(),
  status: Type.Enum(['pending', 'verified']),
});

export type VerifiedEmail = Static<typeof VerifiedEmail>;
export const VerifiedEmail = Type.Object({
  message: Type.String(),
  /** Absent when the link had verified the address before. */
  email: Type.Optional(Type.String()),
});
