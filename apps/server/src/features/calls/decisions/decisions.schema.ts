import { Assertion } from '@behest/protocol/passkey-shapes';
import { Duration, Id, NextCursor, pageQuery, ShownBranding, Time, textOf } from '@behest/protocol/shapes';
import { type Static, type TSchema, Type } from 'typebox';

const nullable = <Shape extends TSchema>(shape: Shape) => Type.Union([shape, Type.Null()]);
const Text = (maxLength: number) => Type.String({ minLength: 1, maxLength });
const closed = { additionalProperties: false } as const;
const GrantToken = Text(16_384);
const CaseId = Type.String({ minLength: 1, maxLength: 256, pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f]+$' });
const CaseVersion = Text(128);
const CallId = Type.String({ pattern: '^[A-Za-z0-9_.:-]{8,128}$' });
const Arguments = Type.Object({}, { additionalProperties: true });

export type NewDecision = Static<typeof NewDecision>;
export const NewDecision = Type.Object(
  {
    grantToken: GrantToken,
    connector: Text(256),
    tool: Text(256),
    arguments: Arguments,
    resource: Type.Optional(Text(512)),
    amount: Type.Optional(Type.Number()),
    caseId: Type.Optional(CaseId),
    caseVersion: Type.Optional(CaseVersion),
    callId: Type.Optional(
      Type.String({
        ...CallId,
        description:
          'The same for each attempt of one logical call. Until its request expires, the call gets that request again, whatever became of it.',
      }),
    ),
    summary: Type.Optional(textOf(500)),
    expiresIn: Type.String({ ...Duration, default: '4h' }),
    approvers: Type.Optional(
      Type.Array(Type.String({ pattern: '^(apv_[0-9A-HJKMNP-TV-Z]{26}|group:[a-z][a-z0-9_]{0,63})$' }), {
        minItems: 1,
        maxItems: 20,
      }),
    ),
  },
  closed,
);

const STATUSES = ['pending', 'approved', 'consumed', 'denied', 'cancelled', 'superseded', 'expired'] as const;
const DecisionStatus = Type.Enum([...STATUSES]);

const Approval = Type.Object({
  approver: Type.String({ description: 'The `sub` of the person.' }),
  at: Time,
  position: Type.Integer(),
  onBehalfOf: Type.Optional(Type.String()),
  relaxed: Type.Optional(Type.Boolean()),
});

export type Decision = Static<typeof Decision>;
export const Decision = Type.Object({
  decisionId: Id,
  status: DecisionStatus,
  connector: Type.String(),
  tool: Type.String(),
  arguments: Arguments,
  actionHash: Type.String({
    description:
      'The hash that the approvers sign: of the whole call, or of what the manifest binds and the manifest.',
  }),
  caseId: nullable(Type.String()),
  caseVersion: nullable(Type.String()),
  decision: nullable(Type.String()),
  quorum: Type.Integer(),
  approvals: Type.Array(Approval),
  agentId: Id,
  grantId: Id,
  principalId: Type.String(),
  createdAt: Time,
  expiresAt: Time,
  url: Type.String({ description: 'The page on which an approver decides. It gives no rights.' }),
});

export const DecisionPath = Type.Object({ id: Id });
export const CasePath = Type.Object({ caseName: CaseId });
export type DecisionQuery = Static<typeof DecisionQuery>;
export const DecisionQuery = Type.Object({
  ...pageQuery('dec'),
  status: Type.Optional(DecisionStatus),
  caseId: Type.Optional(CaseId),
  agentId: Type.Optional(Id),
  grantId: Type.Optional(Id),
});
export type DecisionPage = Static<typeof DecisionPage>;
export const DecisionPage = Type.Object({ decisions: Type.Array(Decision), nextCursor: NextCursor });

export const DecisionGrantsRequest = Type.Object({ grantToken: GrantToken }, closed);
export const DecisionGrantsResult = Type.Object({ decisionGrants: Type.Array(Type.String()) });

export type ConsumeDecisionRequest = Static<typeof ConsumeDecisionRequest>;
export const ConsumeDecisionRequest = Type.Object(
  {
    decisionGrants: Type.Array(GrantToken, { minItems: 1, maxItems: 2 }),
    action: Type.Object(
      {
        v: Type.Enum([1, 2], { description: '2 for a tool whose manifest has `binds`.' }),
        connector: Text(256),
        tool: Text(256),
        manifest: Type.Optional(Type.String({ pattern: '^[0-9a-f]{64}$' })),
        arguments: Arguments,
        case_id: nullable(Type.String({ maxLength: 512 })),
        case_version: nullable(CaseVersion),
        decision: nullable(Type.String({ maxLength: 64 })),
      },
      closed,
    ),
    caseVersion: nullable(CaseVersion),
    callId: CallId,
    grantToken: GrantToken,
    phase: Type.Enum(['hold', 'send', 'spend', 'release'], { default: 'send' }),
  },
  closed,
);

export type ConsumeDecisionResult = Static<typeof ConsumeDecisionResult>;
export const ConsumeDecisionResult = Type.Object({
  consumed: Type.Literal(true),
  state: Type.Enum(['free', 'held', 'sent', 'spent']),
  replayed: Type.Boolean(),
  decisionId: Id,
  requestId: Id,
  callId: Type.String(),
  actionHash: Type.String(),
  jtis: Type.Array(Type.String()),
  approvers: Type.Array(Type.Object({ sub: Type.String(), jti: Type.String(), at: Time })),
});

export type NewDecisionCase = Static<typeof NewDecisionCase>;
export const NewDecisionCase = Type.Object(
  {
    caseVersion: CaseVersion,
    grantIds: Type.Optional(
      Type.Array(Id, {
        maxItems: 100,
        description:
          'The grants whose requests through the vault proxy may name the case in `Behest-Case`. Without this member the case keeps its grants.',
      }),
    ),
  },
  closed,
);
export type DecisionCase = Static<typeof DecisionCase>;
export const DecisionCase = Type.Object({
  caseId: Type.String(),
  caseVersion: Type.String(),
  grantIds: Type.Array(Id),
});

export type DecisionForApprover = Static<typeof DecisionForApprover>;
export const DecisionForApprover = Type.Object({
  ...Decision.properties,
  permission: Type.String(),
  purpose: nullable(Type.String()),
  agentName: Type.String(),
  developerName: Type.String(),
  branding: Type.Optional(ShownBranding),
  summary: nullable(Type.String({ description: 'In the words of the agent, which nobody has checked.' })),
  canonical: Type.String({ description: 'The canonical JSON whose hash is signed.' }),
  previous: nullable(
    Type.String({ description: 'The same of the last decision about the case and the tool.' }),
  ),
  words: Type.Object(
    {
      title: nullable(Type.String()),
      description: nullable(Type.String()),
      language: nullable(Type.String()),
      arguments: Type.Array(Type.Object({ path: Type.String(), title: Type.String() })),
    },
    {
      description:
        'The tool and its arguments in the words of its manifest, which are those of the developer.',
    },
  ),
  parts: Type.Array(Type.Object({ path: Type.String(), binds: Type.Boolean() }), {
    description:
      'All of `arguments`, in parts that the approval binds or that may be others when the call is made.',
  }),
  lastApproved: nullable(
    Type.Object(
      { decisionId: Id, arguments: Arguments, createdAt: Time },
      { description: 'The last approved call of the tool by the same agent for the same person.' },
    ),
  ),
  firstApprover: nullable(Type.String()),
  mayDecide: Type.Boolean(),
});
export type RoutedQuery = Static<typeof RoutedQuery>;
export const RoutedQuery = Type.Object({
  ...pageQuery('dec'),
  status: Type.Enum([...STATUSES, 'ended'], {
    default: 'pending',
    description:
      '`pending`: the open requests, those that end next first. `ended`: all that wait no longer. All but `pending` are newest first.',
  }),
});
export type ApproverDecisionPage = Static<typeof ApproverDecisionPage>;
export const ApproverDecisionPage = Type.Object({
  decisions: Type.Array(
    Type.Object({
      decisionId: Id,
      connector: Type.String(),
      tool: Type.String(),
      caseId: nullable(Type.String()),
      agentName: Type.String(),
      status: DecisionStatus,
      createdAt: Time,
      expiresAt: Time,
    }),
  ),
  nextCursor: NextCursor,
});
export const FollowQuery = Type.Object({
  lastEventId: Type.Optional(
    Type.String({
      pattern: '^[ -~]{1,256}$',
      description: 'For clients that cannot send the header `Last-Event-ID`, which takes precedence.',
    }),
  ),
});
export type ApproveDecisionRequest = Static<typeof ApproveDecisionRequest>;
export const ApproveDecisionRequest = Type.Object(
  { actionHash: Type.String({ maxLength: 100 }), assertion: Assertion },
  closed,
);
export const ApproveDecisionResult = Type.Object({
  decision: Type.Literal('approved'),
  status: DecisionStatus,
});
export const DenyDecisionRequest = Type.Object({ reason: Type.Optional(textOf(500)) }, closed);
export const DenyDecisionResult = Type.Object({ decision: Type.Literal('denied'), status: DecisionStatus });
