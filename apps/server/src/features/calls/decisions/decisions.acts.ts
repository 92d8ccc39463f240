import { act, announcement, type DataOf, entryOnly } from '../../../platform/acts.ts';

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
  }
  interface Attempts {
    'decision.approval_refused': true;
  }
}
