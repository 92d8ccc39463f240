import type { Call } from '@behest/protocol/enforcement/call';
import type { Details, ReasonCode } from '@behest/protocol/enforcement/reasons';
import type { Result } from '@behest/protocol/enforcement/result';
import { isWord } from '@behest/protocol/manifest/tool-reading';
import { announcement, type DataOf, entryOnly } from '../../../platform/acts.ts';
import type { PolicyExplanation } from '../../grants/policies/index.ts';

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
  /** What the check that denied the call compared. Never the value of an argument. */
  readonly details?: KeptDetails;
  /** The policy that denied the call, and by which conditions. */
  readonly policyId?: string;
  readonly explanation?: PolicyExplanation;
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

/** What a call took from the caps of its grant and of those above it, so that everybody can count it again. */
interface ChargeData {
  /** By the clock of the store that counts. */
  readonly at: string;
  /** The id under which the units are held, where it is not that of the call. */
  readonly id?: string;
  /** The cost units, where a cap limits them. */
  readonly units?: number;
}

export const acts = {
  'tool.enforce': entryOnly(),
  'tool.refunded': entryOnly(),
  'enforcement.denied': announcement<CallData>(),
};

declare module '../../../platform/acts.ts' {
  interface Announcements extends DataOf<Pick<typeof acts, 'enforcement.denied'>> {}
  interface Entries {
    /** An allowed call was never sent, so its units are free again. */
    'tool.refunded': { readonly callId: string };
  }
}

const MAX_LISTED = 20;
const LONGEST_CASE = 256; // code points

interface Answered {
  readonly call: Call;
  readonly capsMode: 'enforce' | 'warn';
  readonly result: Result;
  readonly actionHash: string | undefined;
  readonly denied: PolicyExplanation | undefined;
}

/** The facts of a call that the audit log keeps. Arguments stay out, and so does what has no form that can be kept. */
export function callDataOf({ call, capsMode, result, actionHash, denied }: Answered): CallData {
  const { resource, caseVersion, reserve } = call;
  const [amount, caseId] = [keptAmount(call.amount), keptCase(call.caseId)];
  const { permission, call_id: callId, manifest_version: manifestVersion, decision, would_deny } = result;
  const details = result.allowed ? undefined : keptDetails(result.details);
  const warnings = [...new Set(result.warnings.map(({ code }) => code))];
  return {
    connector: call.connector,
    tool: call.tool,
    ...(permission !== null && { permission }),
    ...(resource !== undefined && { resource }),
    ...(amount !== undefined && { amount }),
    ...(caseId !== undefined && { caseId }),
    ...(caseVersion !== undefined && { caseVersion }),
    callId,
    ...(actionHash !== undefined && { actionHash }),
    ...(manifestVersion !== null && { manifestVersion }),
    capsMode,
    ...(reserve === false && { checkOnly: true as const }),
    ...(result.reason_code !== null && { reasonCode: result.reason_code }),
    ...(result.sub_reason !== null && { subReason: result.sub_reason }),
    ...(details && { details }),
    ...(denied && { policyId: denied.policyId, explanation: denied }),
    ...(would_deny && {
      wouldDeny: would_deny
        .slice(0, MAX_LISTED)
        .map(({ reason_code, sub_reason }) => ({ reasonCode: reason_code, subReason: sub_reason })),
    }),
    ...(decision && { decisionId: decision.decision_id }),
    ...(warnings.length > 0 && { warnings }),
  };
}

/** @see checkLimits in packages/protocol, which counts again */
export function chargeOf(
  { reservation, call_id: callId }: Result,
  atMs: number | undefined,
): { readonly charge?: ChargeData } {
  if (!reservation || reservation.id === null || atMs === undefined) return {};
  const { id, units, counters } = reservation;
  const ofGrants = counters.filter(({ scope }) => scope !== 'manifest');
  if (ofGrants.length === 0) return {};
  const isCosted = ofGrants.some(({ kind }) => kind === 'cost_units');
  const at = new Date(atMs).toISOString();
  return { charge: { at, ...(id !== callId && { id }), ...(isCosted && { units }) } };
}

/** A number that a reader could round is kept as text. */
function keptAmount(amount: unknown): number | string | undefined {
  if (typeof amount !== 'number') return undefined;
  const isExact = Number.isSafeInteger(amount) || (!Number.isInteger(amount) && Math.abs(amount) >= 1e-6);
  return isExact ? amount : String(amount);
}

function keptCase(caseId: unknown): string | undefined {
  return typeof caseId === 'string' && caseId !== '' && [...caseId].length <= LONGEST_CASE
    ? caseId
    : undefined;
}

/** The members of `details` that an entry keeps, as it names them. All others stand in the entry already. */
const KEPT = {
  cause: 'cause',
  fault: 'fault',
  index: 'index',
  pinned: 'pinned',
  loaded: 'loaded',
  offered: 'offered',
  granted: 'granted',
  required: 'required',
  scope: 'scope',
  path: 'path',
  rule: 'rule',
  limit: 'limit',
  kind: 'kind',
  window: 'window',
  used: 'used',
  requested: 'requested',
  grant_id: 'grantId',
  retry_at: 'retryAt',
  quorum: 'quorum',
} as const;

/** @public The API description of explanations names it. */
export type KeptDetails = Readonly<Partial<Record<(typeof KEPT)[keyof typeof KEPT], unknown>>>;

const LONGEST_DETAIL = 1024; // bytes of JSON

function keptDetails(details: Details): KeptDetails | undefined {
  const kept = Object.entries(KEPT).flatMap(([name, as]) => {
    const value = name === 'path' ? keptPath(details) : details[name];
    const exact = typeof value === 'number' ? keptAmount(value) : value;
    if (exact === undefined || Buffer.byteLength(JSON.stringify(exact)) > LONGEST_DETAIL) return [];
    return [[as, exact]];
  });
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
}

/** The name of an argument that no rule names comes from the model. Only one that can be a name is kept. */
function keptPath({ path, rule }: Details): unknown {
  if (typeof path !== 'string' || rule !== 'unlisted') return path;
  const name = path.slice(path.lastIndexOf('/') + 1);
  return isWord(name.toLowerCase()) ? path : path.slice(0, path.length - name.length);
}
