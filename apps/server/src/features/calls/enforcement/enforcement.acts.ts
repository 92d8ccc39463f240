import type { ReasonCode } from '@behest/protocol/enforcement/reasons';
import { announcement, type DataOf, entryOnly } from '../../../platform/acts.ts';
import type { Explanation } from '../../grants/policies/index.ts';

/** The answer to one call, without its arguments. */
export interface CallData {
  readonly connector: string;
  readonly tool: string;
  readonly permission?: string;
  readonly resource?: string;
  readonly amount?: number | string;
  readonly caseId?: string;
  readonly caseVersion?: string;
  readonly callId: string;
  /** Absent where the arguments have no canonical form. */
  readonly actionHash?: string;
  readonly manifestVersion?: string;
  readonly capsMode: 'enforce' | 'warn';
  /** The call only asked: nothing was reserved. */
  readonly checkOnly?: true;
  readonly reasonCode?: ReasonCode;
  readonly subReason?: string;
  /** The policy that denied the call, and by which conditions. */
  readonly policyId?: string;
  readonly explanation?: Explanation;
  /** The denials that `capsMode` `warn` let pass. */
  readonly wouldDeny?: readonly { readonly reasonCode: string; readonly subReason: string | null }[];
  readonly decisionId?: string;
  /** The codes of the warnings. */
  readonly warnings?: readonly string[];
  /** The interface by which the call was asked about, if it is not the service's own. */
  readonly via?: 'authzen';
  /** The point that enforces the answer: a caller with an API key, or a resource. */
  readonly pep?: string;
}

export const acts = {
  'tool.enforce': entryOnly(),
  'enforcement.denied': announcement<CallData>(),
};

declare module '../../../platform/acts.ts' {
  interface Announcements extends DataOf<Pick<typeof acts, 'enforcement.denied'>> {}
}
