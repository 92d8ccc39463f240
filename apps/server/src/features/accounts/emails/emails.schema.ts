import { Time, TrimmedEmail } from '@behest/protocol/shapes';
import { type Static, Type } from 'typebox';

export type VerifyEmail = Static<typeof VerifyEmail>;
export const VerifyEmail = Type.Object({ email: TrimmedEmail }, { additionalProperties: false });

export type SentEmailVerification = Static<typeof SentEmailVerification>;
export const SentEmailVerification = Type.Object({ message: Type.String(), expiresAt: Time });

export const LinkPath = Type.Object({ token: Type.String() });

export type EmailVerificationLink = Static<typeof EmailVerificationLink>;
export const EmailVerificationLink = Type.Object({
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
