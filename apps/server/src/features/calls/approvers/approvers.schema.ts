import { AssertionResponse, OfStandard, RegistrationResponse } from '@behest/protocol/passkey-shapes';
import {
  Email,
  Id,
  NextCursor,
  nameOf,
  PrincipalId,
  pageQuery,
  ShownBranding,
  Time,
} from '@behest/protocol/shapes';
import { type Static, type TSchema, Type } from 'typebox';

const nullable = <Shape extends TSchema>(shape: Shape) => Type.Union([shape, Type.Null()]);
const Group = Type.String({ pattern: '^[a-z][a-z0-9_]{0,63}$' });
const Connector = Type.String({ pattern: '^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$' });
const Groups = Type.Array(Group, { maxItems: 20 });
const Connectors = nullable(Type.Array(Connector, { minItems: 1, maxItems: 100 }));
const closed = { additionalProperties: false } as const;

export type NewApprover = Static<typeof NewApprover>;
export const NewApprover = Type.Object(
  {
    email: Type.Optional(Email),
    principalId: Type.Optional(PrincipalId),
    displayName: Type.Optional(nameOf(100)),
    groups: Type.Optional(Groups),
    connectors: Type.Optional(Connectors),
  },
  closed,
);

const Absence = Type.Object({ from: Time, until: Time, deputyApproverId: nullable(Id) });

export type Approver = Static<typeof Approver>;
export const Approver = Type.Object({
  approverId: Id,
  kind: Type.Enum(['person', 'principal']),
  principalId: nullable(Type.String()),
  sub: Type.String({ description: 'The `sub` of the decision grants of this person.' }),
  email: Type.String(),
  emailVerified: Type.Boolean({ description: 'Whether the link to enrol went by mail and nowhere else.' }),
  displayName: Type.String(),
  groups: Type.Array(Type.String()),
  connectors: nullable(Type.Array(Type.String())),
  assurance: Type.Enum(['single', 'dual', 'sso'], {
    description:
      '`dual`: the address is verified and another approver confirmed the person. `sso`: the provider of the address’s verified domain vouches for the person.',
  }),
  status: Type.Enum(['invited', 'pending_confirmation', 'active', 'suspended', 'removed']),
  enrolledBy: Type.String(),
  confirmedBy: nullable(Type.String()),
  activeFrom: nullable(Time),
  absence: nullable(Absence),
  recoveryFrom: Type.Union([Time, Type.Null()], {
    description: 'From then on a link of the operator replaces the passkeys of the person.',
  }),
  createdAt: Time,
});

export type ApproverInvitation = Static<typeof ApproverInvitation>;
export const ApproverInvitation = Type.Object({
  ...Approver.properties,
  link: nullable(
    Type.String({ description: 'The link to enrol, where the service mails none. Shown once.' }),
  ),
  expiresAt: Time,
});

export type ApproverChange = Static<typeof ApproverChange>;
export const ApproverChange = Type.Object(
  {
    groups: Type.Optional(Groups),
    connectors: Type.Optional(Connectors),
    status: Type.Optional(Type.Enum(['active', 'suspended'])),
  },
  { ...closed, minProperties: 1 },
);

export type ApproverAbsence = Static<typeof ApproverAbsence>;
export const ApproverAbsence = Type.Object(
  { from: Time, until: Time, deputyApproverId: Type.Optional(Id) },
  closed,
);

export const ApproverPath = Type.Object({ id: Id });
export type ApproverQuery = Static<typeof ApproverQuery>;
export const ApproverQuery = Type.Object(pageQuery('apv'));
export type ApproverPage = Static<typeof ApproverPage>;
export const ApproverPage = Type.Object({ approvers: Type.Array(Approver), nextCursor: NextCursor });

const Invite = Type.String({ minLength: 1, maxLength: 200, pattern: '^[A-Za-z0-9_.-]+$' });
export const EnrolmentOptionsRequest = Type.Object({ invite: Invite }, closed);
export type EnrolmentOptions = Static<typeof EnrolmentOptions>;
export const EnrolmentOptions = Type.Object({
  developerName: Type.String(),
  branding: Type.Optional(ShownBranding),
  displayName: Type.String(),
  email: Type.String(),
  groups: Type.Array(Type.String()),
  connectors: nullable(Type.Array(Type.String())),
  signInAt: nullable(
    Type.String({
      description: 'Where the person’s organisation can vouch for them first. Null where it does, or cannot.',
    }),
  ),
  challengeId: Id,
  publicKey: OfStandard,
});
export type EnrolmentRequest = Static<typeof EnrolmentRequest>;
export const EnrolmentRequest = Type.Object(
  { invite: Invite, challengeId: Id, response: RegistrationResponse },
  closed,
);

export const ConfirmApproverRequest = Type.Object(
  { confirmation: Type.String({ pattern: '^[A-Za-z0-9_-]{43}$' }) },
  closed,
);

export const ApproverSignInOptions = Type.Object({ challengeId: Id, publicKey: OfStandard });
export type ApproverSignInRequest = Static<typeof ApproverSignInRequest>;
export const ApproverSignInRequest = Type.Object({ challengeId: Id, response: AssertionResponse }, closed);

export type NewApproverPasskey = Static<typeof NewApproverPasskey>;
export const NewApproverPasskey = Type.Object({ challengeId: Id, response: RegistrationResponse }, closed);

export type ApproverPasskey = Static<typeof ApproverPasskey>;
export const ApproverPasskey = Type.Object({
  id: Id,
  status: Type.Enum(['active', 'suspect'], {
    description: '`suspect`: there may be a copy, so it neither signs in nor decides.',
  }),
  transports: Type.Array(Type.String()),
  createdAt: Time,
  lastUsedAt: nullable(Time),
});

export type ApproverPasskeyList = Static<typeof ApproverPasskeyList>;
export const ApproverPasskeyList = Type.Object({ passkeys: Type.Array(ApproverPasskey) });

export type ApproverSession = Static<typeof ApproverSession>;
export const ApproverSession = Type.Object({
  approver: Approver,
  developerName: Type.String(),
  branding: Type.Optional(ShownBranding),
  csrfToken: Type.String(),
  expiresAt: Time,
  mayDecideUntil: Time,
});

const Colleague = { approverId: Id, displayName: Type.String(), email: Type.String() };
export type ApproverColleagues = Static<typeof ApproverColleagues>;
export const ApproverColleagues = Type.Object({
  colleagues: Type.Array(Type.Object({ ...Colleague, status: Type.String() })),
  deputies: Type.Array(Type.Object(Colleague), {
    description: 'The people who may stand in for the approver during an absence.',
  }),
  recoveries: Type.Array(Type.Object({ ...Colleague, recoveryFrom: Time }), {
    description: 'The people whose passkeys a link of the operator is about to replace.',
  }),
});

export const AccountPath = Type.Object({ id: Id });
export const ApproverRecoveryRequest = Type.Object({ approverId: Id }, closed);
export type ApproverRecovery = Static<typeof ApproverRecovery>;
export const ApproverRecovery = Type.Object({
  approverId: Id,
  link: nullable(
    Type.String({ description: 'The link to enrol, where the service mails none. Shown once.' }),
  ),
  opensAt: Time,
  expiresAt: Time,
});
