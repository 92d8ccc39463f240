import { type Act, act, announcement, concerning, type DataOf, entryOnly } from '../../../platform/acts.ts';
import { AppError } from '../../../platform/errors.ts';
import type { ApproverDeps } from '../approvers/index.ts';
import type { FindCallFacts, JudgeCall } from '../enforcement/index.ts';
import type { ChannelSeals } from './channels.ts';
import type { DecisionRow } from './decisions.repo.ts';

/** The facts of a decision that anybody may read: never the arguments, an amount or the summary. */
export interface OfDecision {
  readonly decisionId: string;
  readonly connector: string;
  readonly tool: string;
  readonly actionHash: string;
  readonly caseId: string | null;
  readonly caseVersion: string | null;
  readonly quorum: number;
}

interface ByApprover {
  readonly approverId: string;
}

export const acts = {
  'decision.requested': act<OfDecision & { readonly expiresAt: string }>(),
  'decision.first_approval': act<OfDecision & ByApprover>(),
  'decision.granted': act<OfDecision & ByApprover>(),
  'decision.denied': act<OfDecision & ByApprover>(),
  'decision.cancelled': act<OfDecision & { readonly reason: 'api' }>(),
  'decision.superseded': act<OfDecision>(),
  'decision.expired': act<OfDecision>(),
  'decision.channel_removed': act<{ readonly channelId: string; readonly reason: 'gone' }>(),
  'decision.consumed': act<OfDecision & { readonly callId: string }>(),
};

export const announcements = {
  'decision.reminder': announcement<OfDecision & { readonly expiresAt: string }>(),
};

export const entries = {
  'decision.approval_refused': entryOnly(),
  'decision.channel_changed': entryOnly(),
  'case.closed': entryOnly(),
  'case.caps_reset': entryOnly(),
};

declare module '../../../platform/acts.ts' {
  interface Acts extends DataOf<typeof acts> {}
  interface Announcements extends DataOf<typeof announcements> {}
  interface Entries {
    'decision.channel_changed': { readonly channelId: string; readonly changed: 'created' | 'deleted' };
    'case.closed': {
      readonly caseId: string;
      readonly caseVersion: string | null;
      readonly superseded: number;
      readonly counters: number;
    };
    /** The caps by case of a grant count from zero for this case. */
    'case.caps_reset': { readonly caseId: string };
  }
  interface Attempts {
    'decision.approval_refused': true;
  }
}

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
