import type { Result } from '@behest/protocol/enforcement/result';
import { denialKeys } from '@behest/protocol/enforcement/sentences';
import { Id, Time } from '@behest/protocol/shapes';
import { type Static, Type } from 'typebox';
import { ReplayTotals, replayedFor } from '../../../platform/replay-totals.ts';

const Text = (maxLength: number) => Type.String({ minLength: 1, maxLength });
const Name = Text(256);
const GrantToken = Text(16_384);

/**
 * A call of a tool. `amount`, `caseId` and `costComponents` may have any form: what is wrong with them denies the call,
 * because they may come from the model.
 */
export type EnforceRequest = Static<typeof EnforceRequest>;
export const EnforceRequest = Type.Object(
  {
    grantToken: GrantToken,
    connector: Name,
    tool: Name,
    arguments: Type.Optional(Type.Unknown()),
    resource: Type.Optional(Text(512)),
    amount: Type.Optional(Type.Unknown()),
    caseId: Type.Optional(Type.Unknown()),
    caseVersion: Type.Optional(Text(128)),
    costComponents: Type.Optional(Type.Unknown()),
    callId: Type.Optional(Type.String({ pattern: '^[A-Za-z0-9_.:-]{8,128}$' })),
    decisionGrants: Type.Optional(Type.Array(Text(16_384), { minItems: 1, maxItems: 2 })),
    capsMode: Type.Optional(Type.Enum(['enforce', 'warn'])),
    reserve: Type.Boolean({ default: true }),
    toolPin: Type.Optional(Text(128)),
  },
  { additionalProperties: false },
);

const denials = denialKeys.map((key) => key.split('/'));
/** @public The API description names it. */
export const ReasonCode = Type.Enum([...new Set(denials.flatMap(([code]) => code ?? []))]);
/** @public The API description names it. */
export const SubReason = Type.Enum([...new Set(denials.flatMap(([, subReason]) => subReason ?? []))]);

/** Compound names stand in both spellings, `reason_code` and `reasonCode`. The keys inside `details` do not. */
export const EnforceResult = Type.Unsafe<Result>(
  Type.Object(
    {
      allowed: Type.Boolean(),
      reason: Type.String(),
      reason_code: Type.Union([ReasonCode, Type.Null()]),
      sub_reason: Type.Union([SubReason, Type.Null()]),
      details: Type.Object({}, { additionalProperties: true }),
      warnings: Type.Array(Type.Object({ code: Type.String(), detail: Type.String() })),
      call_id: Type.String(),
    },
    { additionalProperties: true },
  ),
);

export type ListToolsRequest = Static<typeof ListToolsRequest>;
export const ListToolsRequest = Type.Object(
  {
    grantToken: GrantToken,
    connector: Name,
    tools: Type.Array(
      Type.Object({ name: Text(512), pin: Type.Optional(Text(128)) }, { additionalProperties: false }),
      { minItems: 1, maxItems: 1000 },
    ),
    resource: Type.Boolean({ default: false }),
  },
  { additionalProperties: false },
);

export type ListToolsResult = Static<typeof ListToolsResult>;
export const ListToolsResult = Type.Object({
  tools: Type.Array(Type.String()),
  hidden: Type.Array(
    Type.Object({
      tool: Type.String(),
      reasonCode: ReasonCode,
      subReason: Type.Union([SubReason, Type.Null()]),
    }),
  ),
});

const Verdict = Type.Union([
  Type.Object({ reasonCode: ReasonCode, subReason: Type.Union([SubReason, Type.Null()]) }),
  Type.Null(),
]);
const Count = Type.Integer({ minimum: 0 });

export type ManifestReplayRequest = Static<typeof ManifestReplayRequest>;
export const ManifestReplayRequest = Type.Object(
  { candidate: Type.Object({}, { additionalProperties: true }), since: Time, until: Time },
  { additionalProperties: false },
);

export type ManifestReplay = Static<typeof ManifestReplay>;
export const ManifestReplay = Type.Object({
  evaluated: Count,
  unchanged: Count,
  changes: Type.Array(
    Type.Object({
      entryId: Id,
      at: Time,
      agentId: Type.Union([Type.String(), Type.Null()]),
      principalId: Type.Union([Type.String(), Type.Null()]),
      tool: Type.String(),
      before: Verdict,
      after: Verdict,
    }),
    { description: 'The first 500. Null means allowed.' },
  ),
  totals: ReplayTotals,
  ...replayedFor,
  notEvaluated: Type.Object(
    { decisions: Count, arguments: Count, inputs: Count, grants: Count },
    {
      description:
        'Calls that an entry does not say enough about: with a decision, under rules for arguments, of tools with pinned definitions or cost units, and without a grant that is still known.',
    },
  ),
  complete: Type.Boolean({ description: 'False when there are more entries than are read.' }),
});

export const ConnectorPath = Type.Object({ connector: Id });

export const CallPath = Type.Object({ callId: Id });

export type UsageQuery = Static<typeof UsageQuery>;
export const UsageQuery = Type.Object({
  grantId: Id,
  connector: Name,
  tool: Name,
  /** Counters per case are left out without it. */
  caseId: Type.Optional(Text(256)),
});

export type ToolUsage = Static<typeof ToolUsage>;
export const ToolUsage = Type.Object({
  grantId: Id,
  connector: Type.String(),
  tool: Type.String(),
  counters: Type.Array(
    Type.Object({
      scope: Type.Enum(['manifest', 'grant', 'ancestor']),
      kind: Type.Enum(['calls', 'cost_units']),
      window: Type.Enum(['per_hour', 'per_day', 'per_case']),
      limit: Type.Integer(),
      used: Type.Integer(),
      remaining: Type.Integer(),
      /** When one unit more has room; null when it has room now, or never has. */
      retryAt: Type.Union([Time, Type.Null()]),
    }),
  ),
});
