import type { Result } from '@behest/protocol/enforcement/result';
import type { Manifest } from '@behest/protocol/manifest/manifest';
import type { VerifiedGrant } from '@behest/protocol/token-verifier';
import { replayCounts } from '../../../platform/replay-totals.ts';
import type { ManifestReplay } from './enforcement.schema.ts';

const MAX_CHANGES = 500;

/** A recorded call. */
export interface RecordedCall {
  readonly id: string;
  readonly at: Date;
  readonly agentId: string | null;
  readonly principalId: string | null;
  readonly grantId: string | null;
  readonly data: Readonly<Record<string, unknown>>;
}

type Skipped = keyof ManifestReplay['notEvaluated'];
type Verdict = ManifestReplay['changes'][number]['before'];

interface Verdicts {
  readonly before: Result;
  readonly after: Result;
}

export interface Report extends Omit<ManifestReplay, 'totals' | 'agents' | 'principals' | 'complete'> {
  readonly counts: ReturnType<typeof replayCounts>;
}

export const emptyReport = (): Report => ({
  evaluated: 0,
  unchanged: 0,
  changes: [],
  counts: replayCounts(),
  notEvaluated: { decisions: 0, arguments: 0, inputs: 0, grants: 0 },
});

/** The reasons of checks before the manifest, and of the developer's policies: no manifest changes these answers. */
const ELSEWHERE = ['token_invalid', 'grant_revoked'];

export const isDecidedElsewhere = ({ data }: RecordedCall): boolean =>
  ELSEWHERE.includes(String(data.reasonCode)) || data.subReason === 'policy_denied';

/** Why a call cannot be judged again: the entry lacks what decides about it. */
export function whyNotReplayed(
  call: RecordedCall,
  token: VerifiedGrant | undefined,
  { before, after }: { readonly before: Manifest | undefined; readonly after: Manifest },
): Skipped | undefined {
  const { data } = call;
  if (!token) return 'grants';
  if (data.decisionId !== undefined) return 'decisions';
  const tools = [before, after].flatMap((manifest) => manifest?.tools.get(String(data.tool)) ?? []);
  const isAboutArguments = String(data.subReason ?? '').startsWith('argument_');
  if (isAboutArguments || tools.some((tool) => tool.arguments !== undefined)) return 'arguments';
  if (tools.some((tool) => tool.mcp_pins !== undefined || tool.cost_units !== undefined)) return 'inputs';
  return undefined;
}

/** Adds one call to the report. */
export function addCall(report: Report, call: RecordedCall, judged: Verdicts | Skipped): void {
  if (typeof judged === 'string') {
    report.notEvaluated[judged] += 1;
    return;
  }
  const [before, after] = [verdictOf(judged.before), verdictOf(judged.after)];
  if ([before, after].some((verdict) => verdict?.subReason?.startsWith('argument_'))) {
    report.notEvaluated.arguments += 1; // by a rule of the grant
    return;
  }
  report.evaluated += 1;
  const [was, is] = [kindOf(before), kindOf(after)];
  if (was === is) {
    report.unchanged += 1;
    return;
  }
  const { id, at, agentId, principalId, data } = call;
  report.counts.add(call, is);
  if (report.changes.length >= MAX_CHANGES) return;
  const tool = String(data.tool);
  report.changes.push({ entryId: id, at: at.toISOString(), agentId, principalId, tool, before, after });
}

/** A call that only lacks the decision of a person waits for it. */
function kindOf(verdict: Verdict): keyof ManifestReplay['totals'] {
  if (verdict === null) return 'newlyAllowed';
  return verdict.reasonCode === 'decision_required' && verdict.subReason === null
    ? 'newlyWaiting'
    : 'newlyDenied';
}

const verdictOf = ({ allowed, reason_code, sub_reason }: Result): Verdict =>
  allowed || reason_code === null ? null : { reasonCode: reason_code, subReason: sub_reason };

export const reportOf = ({ counts, ...report }: Report, complete: boolean): ManifestReplay => ({
  ...report,
  totals: counts.totals,
  ...counts.named(),
  complete,
});
