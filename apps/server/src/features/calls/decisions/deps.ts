import type { Act } from '../../../platform/acts.ts';
import { concerning } from '../../../platform/acts.ts';
import { AppError } from '../../../platform/errors.ts';
import type { ApproverDeps } from '../approvers/index.ts';
import type { FindCallFacts, JudgeCall } from '../enforcement/index.ts';
import type { OfDecision } from './decisions.acts.ts';
import type { DecisionRow } from './decisions.repo.ts';
import type { ChannelSeals } from './seals.ts';

export interface DecisionsDeps extends ApproverDeps {
  readonly issuer: string;
  readonly judgeCall: JudgeCall;
  readonly findCallFacts: FindCallFacts;
  readonly seals: ChannelSeals;
}

/** The facts of a decision that acts and notices tell. */
export const factsOf = (row: DecisionRow): OfDecision => ({
  decisionId: row.id,
  connector: row.connector,
  tool: row.tool,
  actionHash: row.actionHash,
  caseId: row.caseId,
  caseVersion: row.caseVersion,
  quorum: row.quorum,
});

/** The members of an act that name whom a decision concerns. */
export const aboutOf = (row: DecisionRow) => concerning(row);

type Ended = 'decision.superseded' | 'decision.expired';

export const endedAct = (type: Ended, row: DecisionRow): Act => ({
  type,
  ...aboutOf(row),
  data: factsOf(row),
});

const CODES = {
  malformed: 'BAD_REQUEST',
  wrong_agent: 'FORBIDDEN',
  unknown_grant: 'NOT_FOUND',
  expired: 'GONE',
} as const;

/** A refusal of decision grants, in the status of its reason. */
export function refusedUse(reason: string): AppError {
  const code = CODES[reason as keyof typeof CODES] ?? 'CONFLICT';
  return new AppError(code, 'The decision grants cannot be used for this call.', { sub_reason: reason });
}
