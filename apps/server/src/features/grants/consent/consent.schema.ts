import {
  AgentProfile,
  Budget,
  Duration,
  Id,
  recordOf,
  ShownBranding,
  Time,
  ToolInWords,
  textOf,
} from '@behest/protocol/shapes';
import { type Static, Type } from 'typebox';

export const ConsentPath = Type.Object({ id: Id });

export type ConsentSessionRequest = Static<typeof ConsentSessionRequest>;
export const ConsentSessionRequest = Type.Object(
  {
    ticket: Type.String({ minLength: 1, maxLength: 512 }),
    hint: Type.Optional(Type.String({ minLength: 1, maxLength: 16_384 })),
  },
  { additionalProperties: false },
);

/** The way in which the person has proved, or has to prove, their identity. */
export type ConsentVerification = Static<typeof ConsentVerification>;
export const ConsentVerification = Type.Object({
  mode: Type.Enum(['sandbox', 'link', 'developer', 'email', 'sso', 'passkey']),
  satisfied: Type.Boolean(),
  methods: Type.Array(Type.String()),
  /** The time at which the proof runs out. Where nothing is proved, nothing runs out. */
  satisfiedUntil: Type.Optional(Time),
  /** The page can send the person to an identity provider. */
  signInHere: Type.Optional(Type.Literal(true)),
  /** The browser is signed in at an identity provider, as somebody else. */
  otherPerson: Type.Optional(Type.Literal(true)),
});

/** The limits on the arguments of one tool, in words. The exact rules are in `authorizationDetails`. */
const ArgumentLimits = Type.Object({
  connector: Type.String(),
  tool: Type.String(),
  /** Whether the agent may pass on arguments that no line names. */
  open: Type.Boolean(),
  lines: Type.Array(Type.Object({ path: Type.String(), text: Type.String() })),
});

/** The person's last grant to the same agent that they decided themselves. */
export type PreviousConsent = Static<typeof PreviousConsent>;
export const PreviousConsent = Type.Object({
  grantId: Id,
  issuedAt: Time,
  status: Type.Enum(['active', 'revoked', 'expired']),
  expiresAt: Time,
  scopes: Type.Array(Type.String()),
  /** How many more grants of the agent for the person are active. */
  otherActive: Type.Integer(),
});

const Text = Type.Union([Type.String(), Type.Null()]);
const count = Type.Integer();

/** The difference between the request and the last consent. It informs: nothing is approved by it. */
const Diff = Type.Object({
  /** `wider` when anything is new, wider or changed. */
  verdict: Type.Enum(['same', 'narrower', 'wider']),
  counts: Type.Object({
    ...{ new: count, wider: count, changed: count, narrower: count, removed: count, same: count },
  }),
  items: Type.Array(
    Type.Object({
      dimension: Type.Enum([
        ...(['scope', 'tools', 'caps', 'arguments', 'data_region', 'purpose', 'budget'] as const),
        ...(['lifetime', 'audience', 'redirectHost', 'agent', 'manifest', 'words'] as const),
      ]),
      change: Type.Enum(['new', 'wider', 'changed', 'narrower', 'removed', 'same']),
      connector: Type.Optional(Type.String()),
      /** The scope, the tool, the tool and window of a cap, or the member of the agent. */
      key: Type.Optional(Type.String()),
      before: Text,
      after: Text,
      /** One sentence of the service. */
      text: Type.String(),
    }),
  ),
});

/** The request on the page. `scopeDescriptions` has one text for each of `scopes`, in the same order. */
export type ConsentRequest = Static<typeof ConsentRequest>;
export const ConsentRequest = Type.Object({
  id: Id,
  status: Type.Literal('pending'),
  developerName: Type.String(),
  branding: Type.Optional(ShownBranding),
  agentId: Id,
  ...AgentProfile.properties,
  /** The OAuth client that asked; absent for a request of the developer's own programs. */
  client: Type.Optional(
    Type.Object({
      name: Type.Union([Type.String(), Type.Null()]),
      /** The party that answers for the name. */
      vouchedBy: Type.Enum(['developer', 'host', 'nobody']),
      /** The host that published the description of the client. */
      host: Type.Union([Type.String(), Type.Null()]),
      /** Whether the client runs on the person's own machine, where other programs may imitate it. */
      isLocal: Type.Boolean(),
      resourceNames: Type.Array(Type.String()),
    }),
  ),
  principalId: Type.String(),
  scopes: Type.Array(Type.String()),
  scopeDescriptions: Type.Array(Type.String()),
  /** What the developer says about each of `scopes` beside its title. */
  scopeExplanations: Type.Array(Type.Union([Type.String(), Type.Null()])),
  /** The hash of the words that resources have for the scopes; null where they have none. */
  scopeWordsSha256: Type.Union([Type.String(), Type.Null()]),
  purpose: Type.Optional(Type.String()),
  purposeLabel: Type.Optional(Type.String()),
  authorizationDetails: Type.Optional(Type.Array(Type.Unknown())),
  /** The manifests of the connectors that the scopes name. Without one, `version` and `sha256` are null. */
  manifests: Type.Array(
    Type.Object({
      connector: Type.String(),
      version: Type.Union([Type.String(), Type.Null()]),
      sha256: Type.Union([Type.String(), Type.Null()]),
      /** Whether the approval holds for this version, so that wider tools are noticed. */
      pinned: Type.Boolean(),
    }),
  ),
  argumentLimits: Type.Array(ArgumentLimits),
  /** The tools of the request in the words of these manifests. */
  tools: Type.Array(ToolInWords),
  budget: Type.Optional(Type.Omit(Budget, ['remaining'])),
  grantExpiresIn: Type.String(),
  audience: Type.Optional(Type.String()),
  redirectHost: Type.Optional(Type.String()),
  /** The client is on another device and asks for the decision. */
  channel: Type.Optional(Type.Enum(['device', 'ciba'])),
  /** The other device shows this text too. */
  comparedText: Type.Optional(Type.String()),
  expiresAt: Time,
  sandbox: Type.Boolean(),
  fidoRequired: Type.Boolean(),
  /** Null before the person is proved, and where they have decided nothing about the agent yet. */
  previous: Type.Union([PreviousConsent, Type.Null()]),
  diff: Type.Union([Diff, Type.Null()]),
  /** The grant that ends when the new one begins; null where there is none, and before the person is proved. */
  replacesGrantId: Type.Union([Id, Type.Null()]),
  csrfToken: Type.String(),
  verification: ConsentVerification,
});

export type ConsentSessionResponse = Static<typeof ConsentSessionResponse>;
export const ConsentSessionResponse = Type.Object({
  id: Id,
  csrfToken: Type.String(),
  verification: ConsentVerification,
  request: ConsentRequest,
});

const ToolName = Type.String({ maxLength: 128 });

export type ConsentApproval = Static<typeof ConsentApproval>;
export const ConsentApproval = Type.Object(
  {
    scopes: Type.Optional(Type.Array(Type.String(), { minItems: 1, maxItems: 100 })),
    expiresIn: Type.Optional(Duration),
    tools: Type.Optional(
      recordOf(Type.String({ maxLength: 128 }), Type.Array(Type.String(), { minItems: 1, maxItems: 100 })),
    ),
    /** The rules of arguments that stay, by connector and tool: within those requested. */
    arguments: Type.Optional(
      recordOf(ToolName, recordOf(ToolName, Type.Object({}, { additionalProperties: true }))),
    ),
    /** The manifests as the page showed them. */
    manifests: Type.Optional(
      Type.Array(
        Type.Object(
          {
            connector: Type.String({ maxLength: 128 }),
            sha256: Type.Union([Type.String({ pattern: '^[0-9a-f]{64}$' }), Type.Null()]),
          },
          { additionalProperties: false },
        ),
        { maxItems: 100 },
      ),
    ),
    /** As the page showed the words of scopes. */
    scopeWordsSha256: Type.Optional(Type.Union([Type.String({ pattern: '^[0-9a-f]{64}$' }), Type.Null()])),
  },
  { additionalProperties: false },
);

/** The part of the request that the person has on the screen; absent, all of it. */
export const ConsentPasskeyRequest = Type.Object(
  { decision: Type.Optional(ConsentApproval) },
  { additionalProperties: false },
);

export type ConsentDenial = Static<typeof ConsentDenial>;
export const ConsentDenial = Type.Object(
  {
    reason: Type.Optional(textOf(200)),
  },
  { additionalProperties: false },
);

/** The browser goes there. */
export type SignOnRedirect = Static<typeof SignOnRedirect>;
export const SignOnRedirect = Type.Object({ redirectTo: Type.String() });

/** The code is valid until `expiresAt`. */
export type SentEmailCode = Static<typeof SentEmailCode>;
export const SentEmailCode = Type.Object({ expiresAt: Time });

export type EmailCodeCheck = Static<typeof EmailCodeCheck>;
export const EmailCodeCheck = Type.Object(
  { code: Type.String({ pattern: '^[0-9]{8}$' }) },
  { additionalProperties: false },
);

export type PasskeyVerification = Static<typeof PasskeyVerification>;
export const PasskeyVerification = Type.Object({
  verified: Type.Literal(true),
  verification: ConsentVerification,
});

export type EmailCodeResult = Static<typeof EmailCodeResult>;
export const EmailCodeResult = Type.Object({ verification: ConsentVerification });

const back = {
  redirectUri: Type.Optional(Type.String()),
  state: Type.Optional(Type.String()),
  /** The browser goes there next: the redirect URI with the answer in its query. */
  redirectTo: Type.Optional(Type.String()),
};
export type ConsentApprovalResult = Static<typeof ConsentApprovalResult>;
export const ConsentApprovalResult = Type.Object({
  status: Type.Literal('approved') /** Only where the client awaits one. */,
  code: Type.Optional(Type.String()),
  ...back,
});
export type ConsentDenialResult = Static<typeof ConsentDenialResult>;
export const ConsentDenialResult = Type.Object({ status: Type.Literal('denied'), ...back });
