import { OfStandard, RegistrationResponse } from '@behest/protocol/passkey-shapes';
import { Id, NextCursor, nameOf, PrincipalId, pageQuery, Time } from '@behest/protocol/shapes';
import { type Static, Type } from 'typebox';

export type PasskeyRegistrationRequest = Static<typeof PasskeyRegistrationRequest>;
export const PasskeyRegistrationRequest = Type.Object(
  { principalId: PrincipalId },
  { additionalProperties: false },
);

/** `publicKey` is for `PublicKeyCredential.parseCreationOptionsFromJSON`. */
export type PasskeyCreationOptions = Static<typeof PasskeyCreationOptions>;
export const PasskeyCreationOptions = Type.Object({ challengeId: Id, publicKey: OfStandard });

/** `publicKey` is for `PublicKeyCredential.parseRequestOptionsFromJSON`. */
export const PasskeySignInOptions = Type.Object({ challengeId: Id, publicKey: OfStandard });

export type VerifyPasskeyRegistration = Static<typeof VerifyPasskeyRegistration>;
export const VerifyPasskeyRegistration = Type.Object(
  { challengeId: Id, response: RegistrationResponse, deviceName: Type.Optional(nameOf(100)) },
  { additionalProperties: false },
);

const DeviceType = Type.Enum(['singleDevice', 'multiDevice']);
const Nullable = Type.Union([Type.String(), Type.Null()]);

const members = {
  id: Id,
  principalId: Type.String(),
  deviceName: Nullable,
  backedUp: Type.Boolean(),
  deviceType: DeviceType,
  transports: Type.Array(Type.String()),
};

export type CreatedPasskey = Static<typeof CreatedPasskey>;
export const CreatedPasskey = Type.Object({ ...members, aaguid: Nullable, createdAt: Time });

/** A passkey, without its public key and its counter. */
export type Passkey = Static<typeof Passkey>;
export const Passkey = Type.Object({
  ...members,
  /** `suspect` after the counter went back, as that of a copy does. It proves nothing until it is cleared. */
  status: Type.Enum(['active', 'suspect']),
  createdAt: Time,
  lastUsedAt: Type.Union([Time, Type.Null()]),
});

export type PasskeyQuery = Static<typeof PasskeyQuery>;
export const PasskeyQuery = Type.Object({ principalId: PrincipalId, ...pageQuery('cred') });

export type PasskeyPage = Static<typeof PasskeyPage>;
export const PasskeyPage = Type.Object({ credentials: Type.Array(Passkey), nextCursor: NextCursor });

export const PasskeyPath = Type.Object({ id: Id });

export type PasskeyChange = Static<typeof PasskeyChange>;
export const PasskeyChange = Type.Object(
  {
    deviceName: Type.Optional(nameOf(100)),
    /** Clears a suspicion. */
    status: Type.Optional(Type.Literal('active')),
  },
  { additionalProperties: false, minProperties: 1 },
);

export type OwnPasskeyQuery = Static<typeof OwnPasskeyQuery>;
export const OwnPasskeyQuery = Type.Object(pageQuery('cred'));

export type OwnPasskeyPage = Static<typeof OwnPasskeyPage>;
export const OwnPasskeyPage = Type.Object({ passkeys: Type.Array(Passkey), nextCursor: NextCursor });
