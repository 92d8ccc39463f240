import {
  Duration,
  Id,
  LONGEST_STATE,
  NextCursor,
  PrincipalId,
  pageQuery,
  Time,
  VaultService,
} from '@behest/protocol/shapes';
import { type Static, type TSchema, Type } from 'typebox';

const nullable = <Shape extends TSchema>(shape: Shape) => Type.Union([shape, Type.Null()]);
const UpstreamScope = Type.String({ minLength: 1, maxLength: 256, pattern: '^[!#-\\[\\]-~]+$' });
const Scopes = Type.Array(UpstreamScope, { minItems: 1, maxItems: 100 });

export type AskByAgent = Static<typeof AskByAgent>;
export const AskByAgent = Type.Object(
  { service: VaultService, scopes: Type.Optional(Scopes), expiresIn: Type.Optional(Duration) },
  { additionalProperties: false },
);

export type NewConnectSession = Static<typeof NewConnectSession>;
export const NewConnectSession = Type.Object(
  {
    service: VaultService,
    principalId: PrincipalId,
    /** The agent for which the account is connected. The page names it. */
    agentId: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
    scopes: Type.Optional(Scopes),
    returnUrl: Type.Optional(Type.String({ minLength: 1, maxLength: 2048 })),
    state: Type.Optional(Type.String({ minLength: 1, maxLength: LONGEST_STATE })),
    expiresIn: Type.Optional(Duration),
  },
  { additionalProperties: false },
);

const Status = Type.Enum([
  'pending',
  'started',
  'returned',
  'connected',
  'denied',
  'failed',
  'cancelled',
  'expired',
]);

const session = {
  id: Id,
  connectSessionId: Id,
  providerId: Id,
  service: Type.String(),
  principalId: Type.String(),
  agentId: nullable(Type.String()),
  scopes: Type.Array(Type.String()),
  status: Status,
  reason: nullable(Type.String()),
  credentialId: nullable(Type.String()),
  createdAt: Time,
  expiresAt: Time,
  decidedAt: nullable(Time),
};

export type ConnectSession = Static<typeof ConnectSession>;
export const ConnectSession = Type.Object(session);

export type MadeConnectSession = Static<typeof MadeConnectSession>;
/** `connectUrl` is shown once. */
export const MadeConnectSession = Type.Object({ ...session, connectUrl: Type.String() });

export type ConnectPath = Static<typeof ConnectPath>;
export const ConnectPath = Type.Object({ id: Id });

/** The parameters of an upstream's answer, whichever it sends. */
export const UpstreamAnswer = Type.Object({}, { additionalProperties: true });

export type OpenPage = Static<typeof OpenPage>;
export const OpenPage = Type.Object(
  {
    ticket: Type.String({ minLength: 1, maxLength: 512 }),
    hint: Type.Optional(Type.String({ minLength: 1, maxLength: 16_384 })),
  },
  { additionalProperties: false },
);

export type SendHint = Static<typeof SendHint>;
export const SendHint = Type.Object(
  { hint: Type.String({ minLength: 1, maxLength: 16_384 }) },
  { additionalProperties: false },
);

const Verification = Type.Object({
  mode: Type.Enum(['sandbox', 'link', 'developer', 'email', 'sso', 'passkey']),
  satisfied: Type.Boolean(),
  methods: Type.Array(Type.String()),
  satisfiedUntil: Type.Optional(Time),
  /** The page can send the person to an identity provider. */
  signInHere: Type.Optional(Type.Literal(true)),
  /** The browser is signed in at an identity provider, as somebody else. */
  otherPerson: Type.Optional(Type.Literal(true)),
});

export type Verified = Static<typeof Verified>;
export const Verified = Type.Object({ verification: Verification });

const Account = { accountLabel: nullable(Type.String()) };

/** Everything that the page shows before its button. */
export type Shown = Static<typeof Shown>;
export const Shown = Type.Object({
  developerName: Type.String(),
  principalId: Type.String(),
  agentName: nullable(Type.String()),
  providerName: Type.String(),
  service: Type.String(),
  authorizationHost: Type.String(),
  scopes: Type.Array(Type.Object({ scope: Type.String(), required: Type.Boolean(), new: Type.Boolean() })),
  current: nullable(Type.Object({ ...Account, scopes: Type.Array(Type.String()) })),
  result: nullable(
    Type.Object({
      ...Account,
      accountKnown: Type.Boolean(),
      /** Whether another credential gives way, which the person has to allow. */
      replaces: Type.Boolean(),
      scopesGranted: Type.Array(Type.String()),
      missing: Type.Array(Type.String()),
    }),
  ),
  expiresAt: Time,
  sandbox: Type.Boolean(),
});

const page = {
  id: Id,
  status: Status,
  reason: nullable(Type.String()),
  csrfToken: Type.String(),
  /** The person signs in there, and comes back with a hint. */
  loginUrl: nullable(Type.String()),
  verification: Verification,
  connect: Shown,
};

export type ShownPage = Static<typeof ShownPage>;
export const ShownPage = Type.Object(page);

export type OpenedPage = Static<typeof OpenedPage>;
export const OpenedPage = Type.Object({ ...page, nonce: Type.String() });

export type Start = Static<typeof Start>;
export const Start = Type.Object({ scopes: Type.Optional(Scopes) }, { additionalProperties: false });
export const Started = Type.Object({ redirectTo: Type.String() });

export type Confirm = Static<typeof Confirm>;
export const Confirm = Type.Object(
  { replaceAccount: Type.Optional(Type.Boolean()) },
  { additionalProperties: false },
);

export type Ended = Static<typeof Ended>;
export const Ended = Type.Object({
  status: Type.Enum(['connected', 'cancelled']),
  credentialId: Type.Optional(Id),
  redirectTo: Type.Optional(Type.String()),
});

export const CheckCode = Type.Object(
  { code: Type.String({ pattern: '^[0-9]{8}$' }) },
  { additionalProperties: false },
);
export const SentCode = Type.Object({ expiresAt: Time });

export type OwnQuery = Static<typeof OwnQuery>;
export const OwnQuery = Type.Object(pageQuery('vault'));

export type OwnConnectionPage = Static<typeof OwnConnectionPage>;
export const OwnConnectionPage = Type.Object({
  connections: Type.Array(
    Type.Object({
      id: Id,
      service: Type.String(),
      providerName: Type.String(),
      account: nullable(Type.Object({ id: Type.String(), label: nullable(Type.String()) })),
      scopesGranted: Type.Array(Type.String()),
      status: Type.Enum(['connected', 'reauthorization_required']),
      reason: nullable(Type.String()),
      connectedAt: Time,
      lastExchangedAt: nullable(Time),
    }),
  ),
  nextCursor: NextCursor,
});
