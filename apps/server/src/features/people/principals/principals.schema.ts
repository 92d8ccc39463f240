import {
  Budget,
  Duration,
  Id,
  NextCursor,
  NullableAgentProfile,
  PrincipalId,
  pageQuery,
  ShownBranding,
  Time,
  ToolInWords,
  TrimmedEmail,
} from '@behest/protocol/shapes';
import { type Static, Type } from 'typebox';

const Nullable = Type.Union([Type.String(), Type.Null()]);

export type NewPrincipalSession = Static<typeof NewPrincipalSession>;
export const NewPrincipalSession = Type.Object(
  {
    principalId: PrincipalId,
    expiresIn: Type.Optional(Duration),
  },
  { additionalProperties: false },
);

export type CreatedPrincipalSession = Static<typeof CreatedPrincipalSession>;
export const CreatedPrincipalSession = Type.Object({
  sessionToken: Type.String(),
  dashboardUrl: Type.String(),
  expiresAt: Time,
});

const LinkToken = Type.String({ pattern: '^[\\w-]{43}$' });

export type SignInLinkRequest = Static<typeof SignInLinkRequest>;
export const SignInLinkRequest = Type.Object(
  {
    email: TrimmedEmail,
    /** The token of a link that was mailed there in the last day, also one that is over. */
    link: Type.Optional(LinkToken),
  },
  { additionalProperties: false },
);

/** The same for every address. */
export type SentSignInLink = Static<typeof SentSignInLink>;
export const SentSignInLink = Type.Object({ message: Type.String() });

/** The token of a mailed link. */
export const SignInLink = Type.Object({ token: LinkToken }, { additionalProperties: false });

/** The limits on the arguments of one tool, in words. */
const ArgumentLimits = Type.Object({
  connector: Type.String(),
  tool: Type.String(),
  /** Whether the agent may pass on arguments that no line names. */
  open: Type.Boolean(),
  lines: Type.Array(Type.Object({ path: Type.String(), text: Type.String() })),
});

/** A grant for its principal. `scopeDescriptions` has one text for each of `scopes`, in the same order. */
export type OwnGrant = Static<typeof OwnGrant>;
export const OwnGrant = Type.Object({
  grantId: Id,
  agentId: Id,
  ...NullableAgentProfile.properties,
  scopes: Type.Array(Type.String()),
  scopeDescriptions: Type.Array(Type.String()),
  /** What the developer says about each of `scopes` beside its title. */
  scopeExplanations: Type.Array(Type.Union([Type.String(), Type.Null()])),
  status: Type.Enum(['active', 'revoked', 'expired']),
  issuedAt: Time,
  expiresAt: Time,
  revokedAt: Type.Optional(Time),
  revokedReason: Type.Optional(Type.String()),
  delegationDepth: Type.Integer(),
  parentGrantId: Type.Optional(Id),
  purpose: Type.Optional(Type.String()),
  purposeLabel: Type.Optional(Type.String()),
  audience: Type.Optional(Type.String()),
  argumentLimits: Type.Array(ArgumentLimits),
  /** The tools of the grant in the words of the manifests as they are now. */
  tools: Type.Array(ToolInWords),
  budget: Type.Optional(Budget),
  unverified: Type.Optional(Type.Literal(true)),
  lastUsedAt: Type.Union([Time, Type.Null()]),
});

export type OwnGrantQuery = Static<typeof OwnGrantQuery>;
export const OwnGrantQuery = Type.Object({
  status: Type.Enum(['active', 'all'], { default: 'active' }),
  ...pageQuery('grnt'),
});

export type OwnGrantPage = Static<typeof OwnGrantPage>;
export const OwnGrantPage = Type.Object({
  grants: Type.Array(OwnGrant),
  principalId: Type.String(),
  developerName: Type.String(),
  branding: Type.Optional(ShownBranding),
  sandbox: Type.Boolean(),
  sessionExpiresAt: Time,
  nextCursor: NextCursor,
});

/** An entry about the principal. `metadata` lacks the members that the developer keeps to itself. */
export type OwnEntry = Static<typeof OwnEntry>;
export const OwnEntry = Type.Object({
  entryId: Id,
  agentId: Nullable,
  agentDid: Nullable,
  agentName: Nullable,
  grantId: Nullable,
  principalId: Type.String(),
  action: Type.String(),
  metadata: Type.Object({}, { additionalProperties: true }),
  status: Type.Enum(['success', 'failure', 'blocked']),
  purpose: Nullable,
  timestamp: Time,
  hash: Type.String(),
});

export type OwnEntryQuery = Static<typeof OwnEntryQuery>;
export const OwnEntryQuery = Type.Object({
  ...pageQuery('alog'),
  grantId: Type.Optional(Id),
  limit: Type.Integer({ minimum: 1, maximum: 100, default: 100 }),
});

/** A JSON text, because the metadata in it are JSON texts already. */
export const OwnEntryPage = Type.Unsafe<string>(
  Type.Object({ entries: Type.Array(OwnEntry), nextCursor: NextCursor }),
);

/** The service does not keep the address, so it cannot show it. */
export type OwnAddress = Static<typeof OwnAddress>;
export const OwnAddress = Type.Object({
  address: Type.Union([Type.Object({ provedAt: Time, usableUntil: Time }), Type.Null()]),
});

export const AddressPath = Type.Object({ id: PrincipalId });

export const OwnGrantPath = Type.Object({ id: Id });

export const RevokedGrants = Type.Object({ revoked: Type.Integer(), cancelled: Type.Integer() });
