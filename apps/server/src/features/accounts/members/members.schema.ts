import { AssertionResponse, OfStandard, RegistrationResponse } from '@behest/protocol/passkey-shapes';
import { Email, Id, NextCursor, nameOf, pageQuery, ShownBranding, Time } from '@behest/protocol/shapes';
import { type Static, type TSchema, Type } from 'typebox';
import { memberRoles } from '../../../platform/capabilities.ts';

const nullable = <Shape extends TSchema>(shape: Shape) => Type.Union([shape, Type.Null()]);
const closed = { additionalProperties: false } as const;

const Role = Type.Enum([...memberRoles]);
const OpenedBy = Type.Enum(['key', 'link', 'passkey', 'invitation', 'recovery', 'code', 'sso']);

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
  identity: Type.String({
    description:
      'How the person signs in: `passkey`, or `sso:<connectionId>`, where the groups at that provider decide on the role at each sign-in.',
  }),
  invitedBy: nullable(Type.String({ description: 'The actor who let the person in.' })),
  createdAt: Time,
  lastSeenAt: nullable(Time),
  protectedUntil: Type.Union([Time, Type.Null()], {
    description:
      'Until then no other member can change or remove the person, or end their sessions: the operator of the service let them in.',
  }),
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

export const AccountPath = Type.Object({ id: Id });

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

export type RecoverByCode = Static<typeof RecoverByCode>;
export const RecoverByCode = Type.Object(
  {
    email: Email,
    code: Type.String({
      minLength: 16,
      maxLength: 64,
      description: 'Spaces, hyphens and case do not count.',
    }),
  },
  closed,
);

const codes = Type.Array(Type.String(), {
  description:
    'Each signs you in once, to nothing but the registration of a passkey. No other answer shows them.',
});
export type RecoveryCodes = Static<typeof RecoveryCodes>;
export const RecoveryCodes = Type.Object({ recoveryCodes: codes });

export type SignOnQuery = Static<typeof SignOnQuery>;
export const SignOnQuery = Type.Object({
  org: Type.Optional(Type.String({ minLength: 1, maxLength: 256, description: 'The id of the account.' })),
  domain: Type.Optional(
    Type.String({ minLength: 1, maxLength: 256, description: 'A domain that the account has verified.' }),
  ),
});

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
export const MemberPasskeyList = Type.Object({
  passkeys: Type.Array(MemberPasskey),
  recoveryCodesLeft: Type.Integer({ description: 'How many of your recovery codes still work.' }),
});

export const AddedMemberPasskey = Type.Object({
  passkey: MemberPasskey,
  session: Type.Union([ConsoleSession, Type.Null()], {
    description: 'The session from now on, where the passkey was what it needed to open the console.',
  }),
  recoveryCodes: Type.Union([codes, Type.Null()], { description: 'With your first passkey.' }),
});

export const PasskeyPath = Type.Object({ id: Id });

export type MemberList = Static<typeof MemberList>;
export const MemberList = Type.Object({ members: Type.Array(Member) });

export type MemberChange = Static<typeof MemberChange>;
export const MemberChange = Type.Object(
  { role: Type.Optional(Role), status: Type.Optional(Type.Enum(['active', 'suspended'])) },
  { ...closed, minProperties: 1 },
);

export const MemberPath = Type.Object({ id: Id });

export type NewInvitation = Static<typeof NewInvitation>;
export const NewInvitation = Type.Object({ email: Email, role: Role }, closed);

const invitation = {
  id: Id,
  email: Type.String(),
  role: Role,
  invitedBy: Type.String(),
  createdAt: Time,
  expiresAt: Time,
};
export type Invitation = Static<typeof Invitation>;
export const Invitation = Type.Object(invitation);

export type MadeInvitation = Static<typeof MadeInvitation>;
export const MadeInvitation = Type.Object({
  ...invitation,
  link: Type.Union([Type.String(), Type.Null()], {
    description: 'Hand it to the person. No other answer shows it. Null where it was mailed.',
  }),
});

export type InvitationList = Static<typeof InvitationList>;
export const InvitationList = Type.Object({ invitations: Type.Array(Invitation) });

const Invite = Type.String({ minLength: 1, maxLength: 256 });
export const JoinOptionsRequest = Type.Object({ invite: Invite }, closed);

export type JoinOptions = Static<typeof JoinOptions>;
export const JoinOptions = Type.Object({
  developerName: Type.String(),
  branding: Type.Optional(ShownBranding),
  email: Type.String(),
  role: Role,
  challengeId: Id,
  publicKey: OfStandard,
});

export const JoinRequest = Type.Object(
  { invite: Invite, displayName: nameOf(100), challengeId: Id, response: RegistrationResponse },
  closed,
);

/** The session of a new member, with the codes for the day on which they have lost their passkey. */
export const JoinedConsole = Type.Object({ ...ConsoleSession.properties, recoveryCodes: codes });

export type ListedSession = Static<typeof ListedSession>;
const ListedSession = Type.Object({
  id: Id,
  memberId: Id,
  openedBy: OpenedBy,
  ip: Type.String(),
  userAgent: nullable(Type.String()),
  createdAt: Time,
  lastSeenAt: Time,
  expiresAt: Time,
  current: Type.Boolean({ description: 'Whether it is the session that asks.' }),
});

export type SessionQuery = Static<typeof SessionQuery>;
export const SessionQuery = Type.Object(pageQuery('cons'));

export type SessionPage = Static<typeof SessionPage>;
export const SessionPage = Type.Object({ sessions: Type.Array(ListedSession), nextCursor: NextCursor });
