import type { Caller } from '../../../platform/caller.ts';
import type { Clock } from '../../../platform/clock.ts';
import type { Executor } from '../../../platform/db/db.ts';
import { badField, notFound } from '../../../platform/errors.ts';
import { mustBeSpan } from '../../../platform/paging.ts';
import { replayCounts } from '../../../platform/replay-totals.ts';
import { listAskedRequests } from '../../record/audit/audit.queries.ts';
import { type CompiledPolicies, compilePolicies } from './compile.rules.ts';
import { policiesAt } from './decide.ts';
import { explanationOf } from './explain.rules.ts';
import { warningsOf } from './manage.ts';
import type { Policy } from './match.rules.ts';
import { policiesVersion } from './policies.queries.ts';
import { fieldsOf } from './policies.rules.ts';
import type { PolicyReplay, PolicyReplayRequest } from './policies.schema.ts';

interface ReplayDeps {
  readonly db: Executor;
  readonly clock: Clock;
  /** Lets other requests go first. */
  readonly pause: () => Promise<void>;
}

const LONGEST = 30 * 86_400_000; // milliseconds
const MAX_ENTRIES = 50_000;
const PORTION = 1000;
const MOST_MILLISECONDS = 10_000;
/** Milliseconds for which one turn decides: with many policies an entry may take tens of them. */
const TURN = 20;
const MAX_CHANGES = 500;
/** In answers, a draft that is no policy yet. */
const DRAFT = 'candidate';

/**
 * Tells what a draft would have changed: it decides about the recorded requests once by the policies as they are, and once
 * with the draft among them. It has no effect.
 * @throws BAD_REQUEST, NOT_FOUND for a draft of an unknown policy
 */
export async function replayPolicies(
  deps: ReplayDeps,
  caller: Caller,
  { candidate, since, until }: PolicyReplayRequest,
): Promise<PolicyReplay> {
  mustBeSpan({ since, until });
  if (Date.parse(until) - Date.parse(since) > LONGEST) throw badField('until', 'too_large');
  const { tenant } = caller;
  const version = await policiesVersion(deps.db, tenant);
  const { policies } = await policiesAt(deps.db, tenant, version);
  const before = replayable(policies);
  const { drafted, others } = withDraft(policies, candidate, deps.clock());
  const after = replayable([...others.policies, drafted]);
  const report = emptyReport(await warningsOf(deps.db, caller, drafted, others));
  const deadline = performance.now() + MOST_MILLISECONDS;

  for (let cursor = '0'; report.evaluated + report.notEvaluated.approvals < MAX_ENTRIES; ) {
    const entries = await listAskedRequests(deps.db, tenant, { since, until, after: cursor, limit: PORTION });
    let turnEnds = performance.now() + TURN;
    for (const entry of entries) {
      replay(entry, { before, after }, report);
      if (performance.now() < turnEnds) continue;
      await deps.pause();
      if (performance.now() >= deadline) return reportOf(report, false);
      turnEnds = performance.now() + TURN;
    }
    const last = entries.at(-1);
    if (!last || entries.length < PORTION) return reportOf(report, true);
    cursor = last.seq;
    await deps.pause();
  }
  return reportOf(report, false);
}

interface Replayable {
  readonly decide: CompiledPolicies['decide'];
  /** The policies that name networks. */
  readonly addressed: ReadonlySet<string>;
}

/**
 * Entries have no addresses, so every address is taken to be in each network. If the policy that decides then names none,
 * it decides whatever the address was.
 */
function replayable(policies: readonly Policy[]): Replayable {
  const addressed = new Set(policies.filter(({ networks }) => networks !== null).map(({ id }) => id));
  const { decide } = compilePolicies(policies.map((policy) => ({ ...policy, networks: null })));
  return { decide, addressed };
}

interface Report extends Omit<PolicyReplay, 'totals' | 'agents' | 'principals' | 'complete'> {
  readonly counts: ReturnType<typeof replayCounts>;
}

const reportOf = ({ counts, ...report }: Report, complete: boolean): PolicyReplay => ({
  ...report,
  totals: counts.totals,
  ...counts.named(),
  complete,
});

const emptyReport = (warnings: Report['warnings']): Report => ({
  evaluated: 0,
  unchanged: 0,
  changes: [],
  counts: replayCounts(),
  warnings,
  notEvaluated: { approvals: 0, unrecorded: 0, addresses: 0 },
});

/** The draft as a policy, with the id of the one in whose place it stands, and the others. */
function withDraft(
  policies: readonly Policy[],
  { id, ...draft }: PolicyReplayRequest['candidate'],
  at: Date,
) {
  const replaced = policies.find((policy) => policy.id === id);
  if (id !== undefined && !replaced) throw notFound();
  const { createdAt } = replaced ?? { createdAt: at };
  const drafted = { ...fieldsOf(draft), id: id ?? DRAFT, createdAt, updatedAt: at };
  return { drafted, others: compilePolicies(policies.filter((policy) => policy.id !== id)) };
}

type AskedRequest = Awaited<ReturnType<typeof listAskedRequests>>[number];

/** Adds one entry to the report. */
function replay(
  { id, agentId, principalId, purpose, at, metadata }: AskedRequest,
  { before, after }: { readonly before: Replayable; readonly after: Replayable },
  report: Report,
): void {
  const { operation, previousMinute, scopes } = Object(metadata);
  if (typeof previousMinute === 'number') {
    // Only the first refusal of a minute has an entry of its own.
    report.notEvaluated.unrecorded += Math.max(0, previousMinute - 1);
  }
  if (operation === 'consent' || agentId === null || principalId === null || !Array.isArray(scopes)) {
    report.notEvaluated.approvals += 1;
    return;
  }
  const asked = { agentId, principalId, scopes: scopes.map(String), purpose, at };
  const [was, is] = [before.decide(asked), after.decide(asked)];
  if ((was && before.addressed.has(was.id)) || (is && after.addressed.has(is.id))) {
    report.notEvaluated.addresses += 1;
    return;
  }
  const [effectBefore, effectAfter] = [was?.effect ?? null, is?.effect ?? null];
  report.evaluated += 1;
  if (effectBefore === effectAfter) {
    report.unchanged += 1;
    return;
  }
  const kind =
    effectAfter === 'deny'
      ? 'newlyDenied'
      : effectAfter === 'require_approval'
        ? 'newlyWaiting'
        : effectBefore === 'deny' && 'newlyAllowed';
  if (kind) report.counts.add({ agentId, principalId }, kind);
  if (report.changes.length < MAX_CHANGES) {
    report.changes.push({
      entryId: id,
      at: at.toISOString(),
      agentId,
      principalId,
      before: effectBefore,
      after: effectAfter,
      rule: is?.id ?? null,
      explanation: is ? explanationOf(is, asked) : null,
    });
  }
}
