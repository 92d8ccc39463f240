import type { Digest } from './audit-parts.ts';
import { encodeBase64url } from './base64url.ts';
import { canonicalJson } from './canonical-json.ts';
import type { CapWindow } from './tools-entry.ts';

/** An audit entry as far as limits need it. */
export interface LimitEntry {
  readonly seq: number;
  readonly action: string;
  readonly status: string;
  readonly agentId?: string | null;
  readonly grantId?: string | null;
  readonly metadata: Readonly<Record<string, unknown>>;
  /** How many members of the metadata are not shown. */
  readonly hidden?: number;
  /** As in an export: some members were erased. */
  readonly erased?: true;
}

/** A cap of a grant and the most units that calls of the grant and its descendants took in any window. */
export interface CapUse {
  readonly grantId: string;
  readonly connector: string;
  /** Absent for the cap on cost units. */
  readonly tool?: string;
  readonly window: CapWindow;
  readonly limit: number;
  readonly peak: number;
}

/** A budget of a grant and the most that the grant and its descendants had spent of it. */
export interface BudgetUse {
  readonly grantId: string;
  readonly allocationId: string;
  readonly currency: string;
  readonly limit: string;
  readonly peak: string;
  readonly spent: string;
}

/** The first entry that breaks a limit, or that says another balance than the entries before it add up to. */
export interface LimitFault {
  readonly seq: number;
  readonly grantId: string;
  readonly problem: 'cap_exceeded' | 'not_counted' | 'budget_exceeded' | 'balance_differs';
}

export interface LimitsReport {
  /** Whether no limit was ever exceeded; null where entries are not shown, so that nobody can tell. */
  readonly holds: boolean | null;
  readonly first: LimitFault | null;
  /** The calls that were counted, without those of which the units were given back. */
  readonly calls: number;
  readonly refunded: number;
  /** The entries of which too little is shown. */
  readonly unread: number;
  readonly caps: readonly CapUse[];
  readonly budgets: readonly BudgetUse[];
}

/** Whether something of an entry is not shown. */
export const isPartial = ({ hidden = 0, erased }: LimitEntry) => hidden > 0 || erased === true;

/** What an entry breaks, or `unread` where too little of it is shown. */
export type Problem = LimitFault['problem'] | 'unread' | undefined;

/** No chain of grants is as long. A forged one could make the check slow. */
export const MAX_DEPTH = 64;

/** The hash of a report in canonical JSON, in base64url. The statement of a receipt has it, signed. */
export const digestOfLimits = (report: LimitsReport, sha256: Digest): string =>
  encodeBase64url(sha256(new TextEncoder().encode(canonicalJson(report))));

/** Caps or budgets of which the text is written at once. */
const WRITTEN = 500;

/** The canonical JSON of a report, which may be long, in pieces. */
export function* textsOfLimits(report: LimitsReport): Generator<string> {
  let separator = '{';
  for (const [name, value] of Object.entries(report).sort(([one], [other]) => (one < other ? -1 : 1))) {
    yield `${separator}"${name}":${Array.isArray(value) ? '[' : canonicalJson(value)}`;
    separator = ',';
    if (!Array.isArray(value)) continue;
    for (let at = 0; at < value.length; at += WRITTEN)
      yield `${at > 0 ? ',' : ''}${canonicalJson(value.slice(at, at + WRITTEN)).slice(1, -1)}`;
    yield ']';
  }
  yield '}';
}
