import { Id, NextCursor, nameOf, PrincipalId, ScopeList, Time } from '@behest/protocol/shapes';
import { CONNECTOR_NAME } from '@behest/protocol/tool-scopes';
import { type Static, type TSchema, Type } from 'typebox';
import { ReplayTotals, replayedFor } from '../../../platform/replay-totals.ts';

const orNull = <Shape extends TSchema>(shape: Shape) => Type.Union([shape, Type.Null()]);

const Effect = Type.Enum(['deny', 'require_approval', 'allow']);
const AgentId = Type.String({ minLength: 1, maxLength: 256, pattern: '^[ -~]*$' });
const TimeOfDay = Type.String({ pattern: '^([01][0-9]|2[0-3]):[0-5][0-9]$' });
const Priority = Type.Integer({ minimum: -1_000_000, maximum: 1_000_000 });
const Name = nameOf(200);
const Depth = Type.Integer({ minimum: 0, maximum: 255 });
const Connector = Type.String({ pattern: `^${CONNECTOR_NAME}$` });
const listOf = <Item extends TSchema>(item: Item, maxItems = 100) =>
  Type.Array(item, { minItems: 1, maxItems });
const ToolPattern = Type.String({ minLength: 1, maxLength: 256, pattern: '^[!-~]+$' });
/** Rules of arguments, by the name of a tool. The protocol reads them. */
const ArgumentRules = Type.Object({}, { additionalProperties: true, maxProperties: 100 });

const conditions = {
  agentId: Type.Optional(orNull(AgentId)),
  principalId: Type.Optional(orNull(PrincipalId)),
  scopes: Type.Optional(orNull(ScopeList)),
  timeOfDayStart: Type.Optional(orNull(TimeOfDay)),
  timeOfDayEnd: Type.Optional(orNull(TimeOfDay)),
  /** A name of the IANA database, such as `Europe/Berlin`, for days and times of day. Null is UTC. */
  timeZone: Type.Optional(orNull(Type.String({ minLength: 1, maxLength: 64 }))),
  /** Hours past midnight belong to the day on which they begin. */
  daysOfWeek: Type.Optional(orNull(listOf(Type.Enum(['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']), 7))),
  purposes: Type.Optional(orNull(listOf(Type.String({ minLength: 1, maxLength: 128 })))),
  /** IPv4 and IPv6 networks, or addresses, of the caller: at the consent page of the person's browser. */
  networks: Type.Optional(orNull(listOf(Type.String({ minLength: 2, maxLength: 64 })))),
  /** A grant that a person approved has depth 0, and each delegation adds 1. */
  delegationDepthMin: Type.Optional(orNull(Depth)),
  delegationDepthMax: Type.Optional(orNull(Depth)),
  /** A policy with a connector decides about calls of its tools only. */
  connector: Type.Optional(orNull(Connector)),
  /** Names of tools, or prefixes that end in `*`. */
  tools: Type.Optional(orNull(listOf(ToolPattern))),
  /**
   * Rules of arguments, by the name of a tool. An `allow` matches the calls that keep the rules. Every other effect
   * matches the calls that break one.
   */
  arguments: Type.Optional(orNull(ArgumentRules)),
};

export type NewPolicy = Static<typeof NewPolicy>;
const newPolicy = { name: Name, effect: Effect, priority: Type.Optional(Priority), ...conditions };
export const NewPolicy = Type.Object(newPolicy, { additionalProperties: false });

export type PolicyChange = Static<typeof PolicyChange>;
export const PolicyChange = Type.Object(
  {
    name: Type.Optional(Name),
    effect: Type.Optional(Effect),
    priority: Type.Optional(Priority),
    ...conditions,
  },
  { additionalProperties: false, minProperties: 1 },
);

const fields = {
  name: Type.String(),
  effect: Effect,
  /** Policies of a higher priority are evaluated first. */
  priority: Type.Integer(),
  agentId: orNull(Type.String()),
  principalId: orNull(Type.String()),
  scopes: orNull(Type.Array(Type.String())),
  /** In UTC, or in `timeZone`. The start is inside, and the end is not. */
  timeOfDayStart: orNull(Type.String()),
  timeOfDayEnd: orNull(Type.String()),
  timeZone: orNull(Type.String()),
  daysOfWeek: orNull(Type.Array(Type.String())),
  purposes: orNull(Type.Array(Type.String())),
  networks: orNull(Type.Array(Type.String())),
  delegationDepthMin: orNull(Type.Integer()),
  delegationDepthMax: orNull(Type.Integer()),
  connector: orNull(Type.String()),
  tools: orNull(Type.Array(Type.String())),
  arguments: orNull(ArgumentRules),
};

const members = {
  id: Id,
  ...fields,
  version: Type.Integer(),
  createdAt: Time,
  updatedAt: Time,
};

export type PolicyRecord = Static<typeof PolicyRecord>;
export const PolicyRecord = Type.Object(members);

/** What a policy was after a change. */
export type PolicyVersion = Static<typeof PolicyVersion>;
export const PolicyVersion = Type.Object({
  version: Type.Integer(),
  /** Who made the change, as the audit log names them. Null for changes before versions were kept. */
  actor: orNull(Type.String()),
  createdAt: Time,
  policy: Type.Object(fields),
});

export type PolicyVersionQuery = Static<typeof PolicyVersionQuery>;
export const PolicyVersionQuery = Type.Object({
  limit: Type.Integer({ minimum: 1, maximum: 50, default: 50 }),
  /** The version before which the page begins. */
  cursor: Type.Optional(Type.String({ pattern: '^[1-9][0-9]{0,8}$' })),
});

export type PolicyVersionPage = Static<typeof PolicyVersionPage>;
export const PolicyVersionPage = Type.Object({
  versions: Type.Array(PolicyVersion),
  nextCursor: NextCursor,
});

/** Something that the author of a policy may not have meant. */
export type PolicyWarning = Static<typeof PolicyWarning>;
export const PolicyWarning = Type.Object({
  kind: Type.Enum(['never_matches', 'shadowed', 'shadows', 'contradicts', 'incomplete']),
  /** The other policies, ten at most. */
  policyIds: Type.Array(Type.String()),
  message: Type.String(),
  /** A request that shows it, which `/v1/policies/evaluate` takes. */
  example: orNull(
    Type.Object({
      agentId: Type.String(),
      principalId: Type.String(),
      scopes: Type.Array(Type.String()),
      at: Time,
      purpose: Type.Optional(Type.String()),
      address: Type.Optional(Type.String()),
      delegationDepth: Type.Optional(Type.Integer()),
      connector: Type.Optional(Type.String()),
      tool: Type.Optional(Type.String()),
    }),
  ),
  /** The policy that decides about the example. */
  decidedBy: orNull(Type.String()),
});

export type PolicyWithWarnings = Static<typeof PolicyWithWarnings>;
export const PolicyWithWarnings = Type.Object({ ...members, warnings: Type.Array(PolicyWarning) });

export const PolicyPath = Type.Object({ id: Id });

/** A place in the order of evaluation, which stays one when its policy is deleted. */
export type PolicyQuery = Static<typeof PolicyQuery>;
export const PolicyQuery = Type.Object({
  limit: Type.Integer({ minimum: 1, maximum: 500, default: 500 }),
  cursor: Type.Optional(
    Type.String({
      pattern: '^-?[0-9]{1,7}[.](deny|require_approval|allow)[.][0-9]{1,15}[.]pol_[0-9A-HJKMNP-TV-Z]{26}$',
    }),
  ),
});

export type PolicyPage = Static<typeof PolicyPage>;
export const PolicyPage = Type.Object({
  policies: Type.Array(PolicyRecord),
  unknownAgents: Type.Array(Type.String(), {
    description: 'Each `agentId` on this page that no agent has, so that its policies never match.',
  }),
  total: Type.Integer(),
  nextCursor: NextCursor,
});

export const PolicyOperation = Type.Enum([
  ...(['authorize', 'consent', 'token', 'refresh', 'delegate', 'enforce'] as const),
  'id_jag',
]);
export type PolicyOperation = Static<typeof PolicyOperation>;

export type PolicyEvaluationRequest = Static<typeof PolicyEvaluationRequest>;
export const PolicyEvaluationRequest = Type.Object(
  {
    agentId: AgentId,
    principalId: PrincipalId,
    scopes: ScopeList,
    at: Type.Optional(Time),
    operation: Type.Optional(PolicyOperation),
    purpose: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
    /** Without it, policies that restrict match in every network, and others in none. */
    address: Type.Optional(Type.String({ minLength: 2, maxLength: 64 })),
    delegationDepth: Type.Optional(Depth),
    /** With `tool`, a call. */
    connector: Type.Optional(Connector),
    tool: Type.Optional(Type.String({ minLength: 1, maxLength: 256 })),
    arguments: Type.Optional(Type.Unknown()),
  },
  { additionalProperties: false },
);

/** A condition of the policy that decided, with the part of the request that meets it. */
export type MatchedCondition = Static<typeof MatchedCondition>;
export const MatchedCondition = Type.Object({
  field: Type.Enum([
    ...['agentId', 'principalId', 'scopes', 'timeOfDay', 'daysOfWeek', 'purposes', 'networks'],
    ...['delegationDepth', 'connector', 'tools', 'arguments'],
  ]),
  condition: Type.String(),
  met: Type.String(),
});

/** Which policy decided, by which conditions. */
export type PolicyExplanation = Static<typeof PolicyExplanation>;
export const PolicyExplanation = Type.Object({
  policyId: Type.String(),
  name: Type.String(),
  effect: Effect,
  priority: Type.Integer(),
  conditions: Type.Array(MatchedCondition),
});

export type PolicyEvaluation = Static<typeof PolicyEvaluation>;
export const PolicyEvaluation = Type.Object({
  effect: orNull(Effect),
  policyId: orNull(Type.String()),
  reason: Type.String(),
  /** How many policies the decision was made over. */
  evaluated: Type.Integer(),
  backend: Type.Enum(['builtin', 'opa', 'cedar']),
  conditions: Type.Array(MatchedCondition),
  explanation: orNull(PolicyExplanation),
});

export type PolicyReplayRequest = Static<typeof PolicyReplayRequest>;
export const PolicyReplayRequest = Type.Object(
  {
    /** With the `id` of a policy, the draft stands in its place. */
    candidate: Type.Object(
      { id: Type.Optional(Id), ...newPolicy, name: Type.String({ minLength: 1, maxLength: 200 }) },
      { additionalProperties: false },
    ),
    since: Time,
    until: Time,
  },
  { additionalProperties: false },
);

export type PolicyReplay = Static<typeof PolicyReplay>;
export const PolicyReplay = Type.Object({
  evaluated: Type.Integer(),
  unchanged: Type.Integer(),
  /** The first 500. `rule` is the policy that decides with the draft, `candidate` for a new draft. */
  changes: Type.Array(
    Type.Object({
      entryId: Id,
      at: Time,
      agentId: Type.String(),
      principalId: Type.String(),
      before: orNull(Effect),
      after: orNull(Effect),
      rule: orNull(Type.String()),
      explanation: orNull(PolicyExplanation),
    }),
  ),
  totals: ReplayTotals,
  ...replayedFor,
  warnings: Type.Array(PolicyWarning, { description: 'Those that saving the draft would answer with.' }),
  /** Refused approvals, whose requests were judged before, and refusals that have no entry of their own. */
  notEvaluated: Type.Object({
    approvals: Type.Integer(),
    unrecorded: Type.Integer(),
    /** Requests about which an address would decide, which entries do not have. */
    addresses: Type.Integer(),
  }),
  /** False when there are more entries than are read, or than ten seconds are enough for. */
  complete: Type.Boolean(),
});
