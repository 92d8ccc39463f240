import {
  Duration,
  Id,
  LONGEST_STATE,
  NextCursor,
  PrincipalId,
  pageQuery,
  ShownBranding,
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

export type CreatedConnectSession = Static<typeof CreatedConnectSession>;
/** `connectUrl` is shown once. */
export const CreatedConnectSession = Type.Object({ ...session, connectUrl: Type.String() });

export type ConnectPath = Static<typeof ConnectPath>;
export const ConnectPath = Type.Object({ id: Id });

/** The parameters of an upstream's answer, whichever it sends. */
export const UpstreamAnswer = Type.Object({}, { additionalProperties: true });

export type OpenConnectPage = Static<typeof OpenConnectPage>;
export const OpenConnectPage = Type.Object(
  {
    ticket: Type.String({ minLength: 1, maxLength: 512 }),
    hint: Type.Optional(Type.String({ minLength: 1, maxLength: 16_384 })),
  },
  { additionalProperties: false },
);

export type ConnectHint = Static<typeof ConnectHint>;
export const ConnectHint = Type.Object(
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

export type ConnectVerified = Static<typeof ConnectVerified>;
export const ConnectVerified = Type.Object({ verification: Verification });

const Account = { accountLabel: nullable(Type.String()) };

/** Everything that the page shows before its button. */
export type ConnectPage = Static<typeof ConnectPage>;
export const ConnectPage = Type.Object({
  developerName: Type.String(),
  branding: Type.Optional(ShownBranding),
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
  connect: ConnectPage,
};

export type ConnectPageState = Static<typeof ConnectPageState>;
export const ConnectPageState = Type.Object(page);

export type OpenedConnectPage = Static<typeof OpenedConnectPage>;
export const OpenedConnectPage = Type.Object({ ...page, nonce: Type.String() });

export type ConnectStart = Static<typeof ConnectStart>;
export const ConnectStart = Type.Object({ scopes: Type.Optional(Scopes) }, { additionalProperties: false });
export const ConnectRedirect = Type.Object({ redirectTo: Type.String() });

export type ConnectConfirmation = Static<typeof ConnectConfirmation>;
export const ConnectConfirmation = Type.Object(
  { replaceAccount: Type.Optional(Type.Boolean()) },
  { additionalProperties: false },
);

export type EndedConnections = Static<typeof EndedConnections>;
export const EndedConnections = Type.Object({
  status: Type.Enum(['connected', 'cancelled']),
  credentialId: Type.Optional(Id),
  redirectTo: Type.Optional(Type.String()),
});

export const ConnectCodeCheck = Type.Object(
  { code: Type.String({ pattern: '^[0-9]{8}$' }) },
  { additionalProperties: false },
);
export const ConnectCodeSent = Type.Object({ expiresAt: Time });

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
