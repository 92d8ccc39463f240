import { Id, NextCursor, nameOf, PrincipalId, ScopeList, Time } from '@behest/protocol/shapes';
import { type Static, type TSchema, Type } from 'typebox';

const orNull = <Shape extends TSchema>(shape: Shape) => Type.Union([shape, Type.Null()]);

const Effect = Type.Enum(['allow', 'deny']);
const AgentId = Type.String({ minLength: 1, maxLength: 256, pattern: '^[ -~]*$' });
const TimeOfDay = Type.String({ pattern: '^([01][0-9]|2[0-3]):[0-5][0-9]$' });
const Priority = Type.Integer({ minimum: -1_000_000, maximum: 1_000_000 });
const Name = nameOf(200);

const conditions = {
  agentId: Type.Optional(orNull(AgentId)),
  principalId: Type.Optional(orNull(PrincipalId)),
  scopes: Type.Optional(orNull(ScopeList)),
  timeOfDayStart: Type.Optional(orNull(TimeOfDay)),
  timeOfDayEnd: Type.Optional(orNull(TimeOfDay)),
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

const members = {
  id: Id,
  name: Type.String(),
  effect: Effect,
  /** Policies of a higher priority are evaluated first. */
  priority: Type.Integer(),
  agentId: orNull(Type.String()),
  principalId: orNull(Type.String()),
  scopes: orNull(Type.Array(Type.String())),
  /** In UTC. The start is inside, and the end is not. */
  timeOfDayStart: orNull(Type.String()),
  timeOfDayEnd: orNull(Type.String()),
  version: Type.Integer(),
  createdAt: Time,
  updatedAt: Time,
};

export type PolicyRecord = Static<typeof PolicyRecord>;
export const PolicyRecord = Type.Object(members);

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
    }),
  ),
  /** The policy that decides about the example. */
  decidedBy: orNull(Type.String()),
});

export type WrittenPolicy = Static<typeof WrittenPolicy>;
export const WrittenPolicy = Type.Object({ ...members, warnings: Type.Array(PolicyWarning) });

export const PolicyPath = Type.Object({ id: Id });

/** A place in the order of evaluation, which stays one when its policy is deleted. */
export type PolicyQuery = Static<typeof PolicyQuery>;
export const PolicyQuery = Type.Object({
  limit: Type.Integer({ minimum: 1, maximum: 500, default: 500 }),
  cursor: Type.Optional(
    Type.String({ pattern: '^-?[0-9]{1,7}[.](deny|allow)[.][0-9]{1,15}[.]pol_[0-9A-HJKMNP-TV-Z]{26}$' }),
  ),
});

export type PolicyPage = Static<typeof PolicyPage>;
export const PolicyPage = Type.Object({ policies: Type.Array(PolicyRecord), nextCursor: NextCursor });

export const Operation = Type.Enum(['authorize', 'consent', 'token', 'refresh', 'delegate']);
export type Operation = Static<typeof Operation>;

export type Evaluate = Static<typeof Evaluate>;
export const Evaluate = Type.Object(
  {
    agentId: AgentId,
    principalId: PrincipalId,
    scopes: ScopeList,
    at: Type.Optional(Time),
    operation: Type.Optional(Operation),
  },
  { additionalProperties: false },
);

/** A condition of the policy that decided, with the part of the request that meets it. */
export type MetCondition = Static<typeof MetCondition>;
export const MetCondition = Type.Object({
  field: Type.Enum(['agentId', 'principalId', 'scopes', 'timeOfDay']),
  condition: Type.String(),
  met: Type.String(),
});

export type Evaluated = Static<typeof Evaluated>;
export const Evaluated = Type.Object({
  effect: orNull(Effect),
  policyId: orNull(Type.String()),
  reason: Type.String(),
  /** How many policies the decision was made over. */
  evaluated: Type.Integer(),
  backend: Type.Enum(['builtin', 'opa', 'cedar']),
  conditions: Type.Array(MetCondition),
});

export type Replay = Static<typeof Replay>;
export const Replay = Type.Object(
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

export type Replayed = Static<typeof Replayed>;
export const Replayed = Type.Object({
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
    }),
  ),
  totals: Type.Object({ newlyDenied: Type.Integer(), newlyAllowed: Type.Integer() }),
  /** Refused approvals, whose requests were judged before, and refusals that have no entry of their own. */
  notEvaluated: Type.Object({ approvals: Type.Integer(), unrecorded: Type.Integer() }),
  /** False when there are more entries than are read. */
  complete: Type.Boolean(),
});
