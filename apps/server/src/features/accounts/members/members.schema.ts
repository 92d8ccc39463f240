import { AssertionResponse, OfStandard, RegistrationResponse } from '@behest/protocol/passkey-shapes';
import { Email, Id, nameOf, ShownBranding, Time } from '@behest/protocol/shapes';
import { type Static, type TSchema, Type } from 'typebox';
import { memberRoles } from '../../../platform/capabilities.ts';

const nullable = <Shape extends TSchema>(shape: Shape) => Type.Union([shape, Type.Null()]);
const closed = { additionalProperties: false } as const;

const Role = Type.Enum([...memberRoles]);
const OpenedBy = Type.Enum(['key', 'link', 'passkey', 'invitation']);

/** `memberId` and `id` are equal. */
export type Member = Static<typeof Member>;
export const Member = Type.Object({
  id: Id,
  memberId: Id,
  email: nullable(
    Type.String({ description: 'Null where the person was signed in by a link without an address.' }),
  ),
  displayName: Type.String(),
  role: Role,
  status: Type.Enum(['active', 'suspended']),
  invitedBy: nullable(Type.String({ description: 'The actor who let the person in.' })),
  createdAt: Time,
  lastSeenAt: nullable(Time),
});

export type ConsoleSession = Static<typeof ConsoleSession>;
export const ConsoleSession = Type.Object({
  sessionId: Id,
  member: Member,
  developer: Type.Object({
    developerId: Id,
    name: Type.String(),
    mode: Type.Enum(['live', 'sandbox']),
    plan: Type.String(),
    branding: Type.Optional(ShownBranding),
  }),
  csrfToken: Type.String({ description: 'Send it as `X-CSRF-Token` with every request other than GET.' }),
  capabilities: Type.Array(Type.String(), {
    description: 'What this session may do. Each operation names what it needs as `x-capability`.',
  }),
  passkeyRequired: Type.Boolean({
    description: 'Whether the session can do nothing but register a passkey until its member has one.',
  }),
  openedBy: OpenedBy,
  expiresAt: Time,
  idleExpiresAt: Time,
  steppedUpUntil: nullable(Time),
});

export type SignInByKey = Static<typeof SignInByKey>;
export const SignInByKey = Type.Object({ displayName: nameOf(100), email: Email }, closed);

export type NewConsoleLink = Static<typeof NewConsoleLink>;
export const NewConsoleLink = Type.Object(
  { displayName: Type.Optional(nameOf(100)), email: Type.Optional(Email) },
  closed,
);

export type ConsoleLink = Static<typeof ConsoleLink>;
export const ConsoleLink = Type.Object({
  url: Type.String({ description: 'Opens the console once.' }),
  expiresAt: Time,
});

export const OpenConsoleLink = Type.Object(
  { link: Type.String({ minLength: 43, maxLength: 43, pattern: '^[A-Za-z0-9_-]*$' }) },
  closed,
);

/** `publicKey` is for `PublicKeyCredential.parseRequestOptionsFromJSON`, or for making one `parseCreationOptionsFromJSON`. */
export const PasskeyOptions = Type.Object({ challengeId: Id, publicKey: OfStandard });

export const PasskeyAnswer = Type.Object({ challengeId: Id, response: AssertionResponse }, closed);

export type NewMemberPasskey = Static<typeof NewMemberPasskey>;
export const NewMemberPasskey = Type.Object(
  { challengeId: Id, response: RegistrationResponse, deviceName: Type.Optional(nameOf(100)) },
  closed,
);

export type MemberPasskey = Static<typeof MemberPasskey>;
export const MemberPasskey = Type.Object({
  id: Id,
  status: Type.Enum(['active', 'suspect'], {
    description: '`suspect`: there may be a copy, so it opens nothing.',
  }),
  deviceName: nullable(Type.String()),
  transports: Type.Array(Type.String()),
  createdAt: Time,
  lastUsedAt: nullable(Time),
});

export type MemberPasskeyList = Static<typeof MemberPasskeyList>;
export const MemberPasskeyList = Type.Object({ passkeys: Type.Array(MemberPasskey) });

export const AddedMemberPasskey = Type.Object({
  passkey: MemberPasskey,
  session: Type.Union([ConsoleSession, Type.Null()], {
    description: 'The session from now on, where the passkey was what it needed to open the console.',
  }),
});

export const PasskeyPath = Type.Object({ id: Id });
