import {
  Duration,
  Email,
  Id,
  NextCursor,
  nameOf,
  nullableNameOf,
  PublicJwk,
  pageQuery,
  recordOf,
  Time,
  textOf,
} from '@behest/protocol/shapes';
import { type Static, Type } from 'typebox';

const Mode = Type.Enum(['live', 'sandbox']);
const CapsMode = Type.Enum(['enforce', 'warn']);
const ManifestPinning = Type.Enum(['off', 'warn', 'enforce']);
const ScopeDescriptions = recordOf(
  Type.String({ pattern: '^[!#-\\[\\]-~]{1,256}$' }),
  Type.String({
    minLength: 1,
    maxLength: 200,
    pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f\\u202a-\\u202e\\u2066-\\u2069]*$',
  }),
  { maxProperties: 200 },
);

/** `developerId` and `id` are equal: some clients read the first, some the second. */
const FourEyesAssurance = Type.Enum(['dual', 'sso']);
const members = {
  developerId: Id,
  id: Id,
  name: Type.String(),
  email: Type.Union([Type.String(), Type.Null()]),
  emailVerified: Type.Boolean(),
  mode: Mode,
  plan: Type.Enum(['free', 'pro', 'enterprise']),
  consentMode: Type.Enum(['developer', 'email', 'sso', 'passkey']),
  consentKeys: Type.Array(Type.Object({}, { additionalProperties: true })),
  scopeDescriptions: recordOf(Type.String(), Type.String()),
  redirectUris: Type.Array(Type.String()),
  /** The page at which the developer's application signs a person in who connects an account. */
  connectLoginUrl: Type.Union([Type.String(), Type.Null()]),
  enforceAgentScopes: Type.Boolean(),
  /** Null where the operator's setting applies. */
  maxDelegationDepth: Type.Union([Type.Integer(), Type.Null()]),
  /** Members of audit metadata that principals do not see in their entries. */
  auditPrivateKeys: Type.Array(Type.String()),
  /** `warn` lets a caller of `POST /v1/enforce` ask that caps only warn. */
  capsMode: CapsMode,
  /** Whether a policy that lists scopes approves in a principal's place. */
  policyAutoApproval: Type.Boolean(),
  /** The effect on a call when its tool has become wider since the person agreed. */
  manifestPinning: ManifestPinning,
  /** Days after which a grant's consent has to be renewed; null for never. */
  reconsentAfterDays: Type.Union([Type.Integer(), Type.Null()]),
  /** Whether a change of an agent's name or key asks for consent again. */
  reconsentOnAgentChange: Type.Boolean(),
  /**
   * Whether principals prove themselves with a passkey. Older clients read this in place of `consentMode`.
   */
  fidoRequired: Type.Boolean(),
  /** The least assurance of both people where two have to approve a call. */
  fourEyesAssurance: FourEyesAssurance,
  /** Whether two people may approve without assurance and from one browser, for demonstrations. */
  relaxFourEyes: Type.Boolean(),
  /** Whether a second member has to agree to what weakens the enforcement of a live account. */
  requireTwoForLoosening: Type.Boolean(),
  /** The name that authenticators show; null for the name of the service. */
  fidoRpName: Type.Union([Type.String(), Type.Null()]),
  /** Days after which the personal content of audit entries is erased; null for never. */
  auditRetentionDays: Type.Union([Type.Integer(), Type.Null()]),
  /** When the account was stopped; null while its agents may act. */
  stoppedAt: Type.Union([Time, Type.Null()]),
  stopReason: Type.Union([Type.String(), Type.Null()]),
  createdAt: Time,
  updatedAt: Time,
};
export type Developer = Static<typeof Developer>;
export const Developer = Type.Object(members);
export const UpdatedDeveloper = Type.Object({ ...members, updated: Type.Literal(true) });

export type SignUp = Static<typeof SignUp>;
export const SignUp = Type.Object(
  {
    name: nameOf(200),
    email: Type.Optional(Type.Union([Email, Type.Null()], { trim: true })),
    mode: Type.Enum(['live', 'sandbox'], { default: 'live' }),
  },
  { additionalProperties: false },
);

export type CreatedDeveloper = Static<typeof CreatedDeveloper>;
export const CreatedDeveloper = Type.Object({ ...members, apiKey: Type.String(), keyId: Id });

export type CloseAccount = Static<typeof CloseAccount>;
/** `confirm` repeats the account's `developerId`. */
export const CloseAccount = Type.Object({ confirm: Id }, { additionalProperties: false });

export type ClosedAccount = Static<typeof ClosedAccount>;
export const ClosedAccount = Type.Object({ closedAt: Time, erasedAfter: Time });

export type StopAccount = Static<typeof StopAccount>;
export const StopAccount = Type.Object(
  { reason: Type.Optional(textOf(500)) },
  { additionalProperties: false },
);

export type AccountStop = Static<typeof AccountStop>;
export const AccountStop = Type.Object({ stoppedAt: members.stoppedAt, stopReason: members.stopReason });

export type DeveloperChange = Static<typeof DeveloperChange>;
export const DeveloperChange = Type.Object(
  {
    name: Type.Optional(nameOf(200)),
    consentMode: Type.Optional(Type.Enum(['developer', 'email', 'sso', 'passkey'])),
    consentKeys: Type.Optional(Type.Array(PublicJwk, { maxItems: 5 })),
    scopeDescriptions: Type.Optional(ScopeDescriptions),
    redirectUris: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 2048 }), { maxItems: 50 })),
    connectLoginUrl: Type.Optional(Type.Union([Type.String({ minLength: 1, maxLength: 2048 }), Type.Null()])),
    enforceAgentScopes: Type.Optional(Type.Boolean()),
    maxDelegationDepth: Type.Optional(Type.Union([Type.Integer({ minimum: 1, maximum: 10 }), Type.Null()])),
    auditPrivateKeys: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 128, pattern: '^[^\\u0000]*$' }), { maxItems: 50 }),
    ),
    capsMode: Type.Optional(CapsMode),
    policyAutoApproval: Type.Optional(Type.Boolean()),
    manifestPinning: Type.Optional(ManifestPinning),
    reconsentAfterDays: Type.Optional(Type.Union([Type.Integer({ minimum: 1, maximum: 365 }), Type.Null()])),
    reconsentOnAgentChange: Type.Optional(Type.Boolean()),
    /** `true` sets the consent mode `passkey`, and `false` takes it back to `developer`. */
    fidoRequired: Type.Optional(Type.Boolean()),
    fidoRpName: Type.Optional(nullableNameOf(100)),
    fourEyesAssurance: Type.Optional(FourEyesAssurance),
    /** Only of a sandbox account. */
    relaxFourEyes: Type.Optional(Type.Boolean()),
    /** Only of a live account with two active owners. To take it back needs both. */
    requireTwoForLoosening: Type.Optional(Type.Boolean()),
    auditRetentionDays: Type.Optional(
      Type.Union([Type.Integer({ minimum: 30, maximum: 3650 }), Type.Null()]),
    ),
  },
  { additionalProperties: false, minProperties: 1 },
);

/** How the pages for people show the account. The name is that of `/v1/me`. */
export type Branding = Static<typeof Branding>;
export const Branding = Type.Object({
  name: Type.String(),
  accentColor: Type.Union([Type.String(), Type.Null()]),
  logoUrl: Type.Union([Type.String(), Type.Null()]),
});

export type BrandingChange = Static<typeof BrandingChange>;
export const BrandingChange = Type.Object(
  {
    accentColor: Type.Optional(
      Type.Union([Type.String({ pattern: '^#[0-9A-Fa-f]{6}$' }), Type.Null()], {
        description:
          'The colour of the button that a person presses, as `#rrggbb`. White text on it needs a contrast of 4.5 : 1. Null for that of the service.',
      }),
    ),
    logo: Type.Optional(
      Type.Union([Type.String({ minLength: 1, maxLength: 349_528 }), Type.Null()], {
        description:
          'A PNG in base64, of at most 256 KiB and 1024 pixels a side, not interlaced. The service re-encodes it with at most 128 pixels a side. Null removes it.',
      }),
    ),
  },
  { additionalProperties: false, minProperties: 1 },
);

export type BrandingPreview = Static<typeof BrandingPreview>;
export const BrandingPreview = Type.Object({
  html: Type.String({
    description:
      'A document that is whole in itself, for the `srcdoc` of a frame with an empty `sandbox`. It runs no script and nothing can be decided on it.',
  }),
});

export const LogoPath = Type.Object({ developerId: Id, hash: Type.String({ pattern: '^[0-9a-f]{64}$' }) });

const Count = Type.Integer({ minimum: 0 });
const Plan = Type.Enum(['free', 'pro', 'enterprise']);

export type DeploymentStats = Static<typeof DeploymentStats>;
export const DeploymentStats = Type.Object({
  totalDevelopers: Count,
  /** Developers who signed up within the time. */
  last24h: Count,
  last7d: Count,
  last30d: Count,
  byMode: Type.Object({ live: Count, sandbox: Count }),
  totalAgents: Count,
  totalGrants: Count,
});

export type DeveloperListQuery = Static<typeof DeveloperListQuery>;
export const DeveloperListQuery = Type.Object(pageQuery('dev'));

export type DeveloperPage = Static<typeof DeveloperPage>;
export const DeveloperPage = Type.Object({
  developers: Type.Array(
    Type.Object({
      id: Id,
      name: Type.String(),
      email: Type.Union([Type.String(), Type.Null()]),
      mode: Type.Enum(['live', 'sandbox']),
      createdAt: Time,
    }),
  ),
  nextCursor: NextCursor,
});

export const DeveloperPath = Type.Object({ id: Id });
export type DeveloperPlanChange = Static<typeof DeveloperPlanChange>;
export const DeveloperPlanChange = Type.Object({ plan: Plan }, { additionalProperties: false });
export type DeveloperPlan = Static<typeof DeveloperPlan>;
export const DeveloperPlan = Type.Object({ developerId: Id, plan: Plan });

const Role = Type.Enum(['full', 'runtime']);
const NullableTime = Type.Union([Time, Type.Null()]);

const keyMembers = {
  id: Id,
  keyId: Id,
  name: Type.String(),
  role: Role,
  prefix: Type.String(),
  createdAt: Time,
  lastUsedAt: NullableTime,
  expiresAt: NullableTime,
  status: Type.Enum(['active', 'expiring', 'expired', 'revoked']),
  /** Null: the key is not bound, and knows all agents. */
  agentIds: Type.Union([Type.Array(Id), Type.Null()]),
};
export type ApiKey = Static<typeof ApiKey>;
export const ApiKey = Type.Object({ ...keyMembers, current: Type.Optional(Type.Boolean()) });

export type ApiKeyPage = Static<typeof ApiKeyPage>;
export const ApiKeyPage = Type.Object({ keys: Type.Array(ApiKey), nextCursor: NextCursor });

export type ApiKeyQuery = Static<typeof ApiKeyQuery>;
export const ApiKeyQuery = Type.Object(pageQuery('key'));

const BoundAgents = Type.Array(Type.String({ minLength: 1, maxLength: 256 }), { minItems: 1, maxItems: 50 });

export type NewApiKey = Static<typeof NewApiKey>;
export const NewApiKey = Type.Object(
  {
    name: nameOf(100),
    role: Type.Enum(['full', 'runtime'], { default: 'full' }),
    expiresIn: Type.Optional(Duration),
    agentIds: Type.Optional(Type.Union([BoundAgents, Type.Null()])),
  },
  { additionalProperties: false },
);

/** `apiKey` is the key itself. Only this answer shows it. */
export type CreatedApiKey = Static<typeof CreatedApiKey>;
export const CreatedApiKey = Type.Object({ ...keyMembers, apiKey: Type.String() });

export type RotateApiKey = Static<typeof RotateApiKey>;
export const RotateApiKey = Type.Object(
  {
    name: Type.Optional(nameOf(100)),
    graceSeconds: Type.Integer({ minimum: 0, maximum: 604_800, default: 0 }),
  },
  { additionalProperties: false },
);

export type RotatedApiKey = Static<typeof RotatedApiKey>;
export const RotatedApiKey = Type.Object({
  apiKey: Type.String(),
  keyId: Id,
  rotatedAt: Time,
  previousKeyExpiresAt: Time,
});

export const ApiKeyPath = Type.Object({ id: Id });
