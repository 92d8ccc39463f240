import { checks } from '@behest/protocol/enforcement/checks';
import { Id, Time } from '@behest/protocol/shapes';
import { type Static, Type } from 'typebox';

const Nullable = Type.Union([Type.String(), Type.Null()]);
const Check = Type.Enum([...checks]);

export const ExplanationPath = Type.Object({ id: Id });

export type Fact = Static<typeof Fact>;
export const Fact = Type.Object({
  name: Type.String(),
  value: Type.Union([
    Type.String(),
    Type.Number(),
    Type.Boolean(),
    Type.Null(),
    Type.Array(Type.String()),
    Type.Object({}, { additionalProperties: true }),
  ]),
  from: Type.Enum(['entry', 'now'], {
    description:
      '`entry`: recorded with the answer. `now`: read at `asOf`, and maybe changed since the call.',
  }),
});

export type ExplainedCheck = Static<typeof ExplainedCheck>;
export const ExplainedCheck = Type.Object({
  check: Check,
  outcome: Type.Enum(['passed', 'warned', 'failed', 'not_reached', 'unknown'], {
    description:
      '`warned`: it found a fault that denies nothing. `unknown`: the entry does not say, because it was erased or has a reason of another release.',
  }),
  facts: Type.Array(Fact),
  notRecorded: Type.Array(Type.String(), {
    description: 'Facts on which the denial rests and which the entry lacks.',
  }),
});

export type DecidingRule = Static<typeof DecidingRule>;
export const DecidingRule = Type.Object({
  kind: Type.Enum(['token', 'grant', 'agent', 'manifest', 'policy', 'decision', 'cap', 'service']),
  id: Type.Union([Type.String(), Type.Null()], {
    description: 'Of the grant, the agent or the policy, or the name of the connector.',
  }),
  place: Type.Union([Type.String(), Type.Null()], {
    description: 'Where in it, such as `tools.pay.arguments./amount.max`.',
  }),
  text: Type.String(),
  conditions: Type.Array(
    Type.Object({ field: Type.String(), condition: Type.String(), met: Type.String() }),
    { description: 'The conditions of the policy, each with the part of the call that met it.' },
  ),
});

const ConsentRequest = Type.Object({
  agentId: Type.String(),
  principalId: Type.String(),
  scopes: Type.Array(Type.String()),
  purpose: Type.Optional(Type.String()),
});

export type Change = Static<typeof Change>;
export const Change = Type.Object({
  by: Type.Enum(['agent', 'person', 'developer', 'operator']),
  text: Type.String(),
  target: Type.Object({
    kind: Type.Enum([
      'call',
      'token',
      'consent',
      'decision',
      'agent',
      'grant',
      'manifest',
      'policy',
      'service',
    ]),
    id: Nullable,
    place: Nullable,
  }),
  /** A body for `POST /v1/authorize`: what the grant has now, and what the call needs. */
  consent: Type.Optional(ConsentRequest),
});

const RefusedRequest = Type.Object({
  operation: Type.Union([Type.String(), Type.Null()], {
    description: 'What was asked for: `authorize`, `consent`, `token`, `refresh`, `delegate` or `id_jag`.',
  }),
  purpose: Nullable,
  scopes: Type.Array(Type.String(), {
    description: 'Those recorded: of a refusal of scopes, the refused ones.',
  }),
  refusedScopes: Type.Array(Type.String()),
  allowedScopes: Type.Union([Type.Array(Type.String()), Type.Null()], {
    description: 'What the agent, or the grant above, may have now, where that decided.',
  }),
});

export type Explanation = Static<typeof Explanation>;
export const Explanation = Type.Object({
  entryId: Id,
  at: Time,
  asOf: Time,
  allowed: Type.Boolean(),
  call: Type.Object({
    callId: Nullable,
    connector: Nullable,
    tool: Nullable,
    resource: Nullable,
    caseId: Nullable,
    agentId: Nullable,
    principalId: Nullable,
    grantId: Nullable,
    requestId: Nullable,
    checkOnly: Type.Boolean({ description: 'The call only asked: nothing was reserved.' }),
  }),
  /** Null in the explanation of a call. */
  request: Type.Union([RefusedRequest, Type.Null()]),
  denial: Type.Union([
    Type.Object({
      reasonCode: Type.String(),
      subReason: Nullable,
      reason: Type.String(),
      check: Type.Union([Check, Type.Null()]),
    }),
    Type.Null(),
  ]),
  checks: Type.Array(ExplainedCheck, { description: 'In the order in which they run.' }),
  rule: Type.Union([DecidingRule, Type.Null()]),
  changes: Type.Array(Change, {
    description: 'Each would by itself pass the check that failed. Later checks were not reached.',
  }),
});
