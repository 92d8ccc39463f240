import { createEnforcer } from '@behest/protocol/enforcement/enforcer';
import type { Enforcer } from '@behest/protocol/enforcement/engine';
import type { CapsMeter, Counter } from '@behest/protocol/enforcement/meter';
import type { Result } from '@behest/protocol/enforcement/result';
import type { Manifest } from '@behest/protocol/manifest/manifest';
import type { VerifiedGrant } from '@behest/protocol/token-verifier';
import type { Caller } from '../../../platform/caller.ts';
import type { Executor } from '../../../platform/db/db.ts';
import { badField } from '../../../platform/errors.ts';
import { mustBeSpan } from '../../../platform/paging.ts';
import { draftOf } from '../../grants/manifests/index.ts';
import { storedToken } from '../../grants/tokens/index.ts';
import { listEnforcedCalls } from '../../record/audit/audit.queries.ts';
import { listWholeGrants } from './enforcement.repo.ts';
import type { ManifestReplay, ManifestReplayRequest } from './enforcement.schema.ts';
import {
  addCall,
  emptyReport,
  isDecidedElsewhere,
  type RecordedCall,
  reportOf,
  whyNotReplayed,
} from './replay.rules.ts';

interface ReplayDeps {
  readonly db: Executor;
  readonly issuer: string;
  /** Lets other requests go first. */
  readonly pause: () => Promise<void>;
}

const LONGEST = 30 * 86_400_000; // milliseconds
const MAX_ENTRIES = 50_000;
const PORTION = 500;
const MOST_MILLISECONDS = 10_000;

/**
 * Tells which recorded calls a draft of a manifest would have denied or allowed: it judges each once by the manifest as it is
 * and once by the draft, with what the grant allows and with caps that count from the beginning of the span. It has no effect.
 * @throws INVALID_MANIFEST, BAD_REQUEST
 */
export async function replayManifest(
  deps: ReplayDeps,
  caller: Caller,
  connector: string,
  { candidate, since, until }: ManifestReplayRequest,
): Promise<ManifestReplay> {
  mustBeSpan({ since, until });
  if (Date.parse(until) - Date.parse(since) > LONGEST) throw badField('until', 'too_large');
  const { before, after } = await draftOf(deps.db, caller.tenant, connector, candidate);
  const sides = { before: judgeBy(before), after: judgeBy(after) };
  const report = emptyReport();
  const deadline = performance.now() + MOST_MILLISECONDS;
  const known = new Map<string, VerifiedGrant | undefined>();

  let read = 0;
  for (let cursor = '0'; read < MAX_ENTRIES && performance.now() < deadline; ) {
    const entries = await listEnforcedCalls(deps.db, caller.tenant, {
      since,
      until,
      after: cursor,
      limit: PORTION,
    });
    await findGrants(deps, caller, entries, known);
    for (const entry of entries) {
      const call = { ...entry, data: Object(entry.metadata) };
      if (call.data.connector !== connector) continue;
      if (isDecidedElsewhere(call)) {
        report.evaluated += 1;
        report.unchanged += 1;
        continue;
      }
      const token = entry.grantId === null ? undefined : known.get(entry.grantId);
      const skipped = whyNotReplayed(call, token, { before, after });
      const verdicts =
        token && !skipped
          ? { before: await sides.before(token, call), after: await sides.after(token, call) }
          : undefined;
      addCall(report, call, verdicts ?? skipped ?? 'grants');
    }
    read += entries.length;
    const last = entries.at(-1);
    if (!last || entries.length < PORTION) return reportOf(report, true);
    cursor = last.seq;
    await deps.pause();
  }
  return reportOf(report, false);
}

/** Reads the grants of a portion that no portion before had. */
async function findGrants(
  { db, issuer }: ReplayDeps,
  caller: Caller,
  entries: readonly { readonly grantId: string | null }[],
  known: Map<string, VerifiedGrant | undefined>,
): Promise<void> {
  const ids = [...new Set(entries.flatMap(({ grantId }) => grantId ?? []))].filter((id) => !known.has(id));
  if (ids.length === 0) return;
  for (const id of ids) known.set(id, undefined);
  for (const row of await listWholeGrants(db, caller.tenant, ids)) {
    known.set(row.id, storedToken(row, issuer, caller));
  }
}

/** An engine with one manifest, and with counters of its own that follow the times of the calls. */
function judgeBy(manifest: Manifest | undefined) {
  const meter: ReplayMeter = countedAgain();
  let shown: VerifiedGrant;
  const enforcer: Enforcer = createEnforcer({
    tokens: { verify: () => shown },
    manifests: { get: () => manifest },
    revocation: { check: () => 'active' },
    meter,
  });
  return (token: VerifiedGrant, { at, data }: RecordedCall): Promise<Result> => {
    shown = token;
    meter.setTime(at.getTime());
    const { resource, amount, caseId, capsMode, checkOnly, callId } = data;
    return enforcer.enforce({
      grantToken: 'recorded', // the source of tokens knows it
      connector: String(data.connector),
      tool: String(data.tool),
      arguments: {},
      callId: String(callId),
      ...(typeof resource === 'string' && { resource }),
      ...(amount !== undefined && { amount: Number(amount) }),
      ...(caseId !== undefined && { caseId }),
      ...(capsMode === 'warn' && { capsMode }),
      ...(checkOnly === true && { reserve: false }),
    });
  };
}

/** Counters in memory for a replay, whose clock is the time of the call that is judged. */
interface ReplayMeter extends CapsMeter {
  readonly setTime: (milliseconds: number) => void;
}

interface Charges {
  /** Oldest first, from `first` on. */
  readonly ends: { readonly at: number; readonly units: number }[];
  first: number;
  used: number;
}

/** Calls come in the order of their times, so each window forgets from its beginning. */
function countedAgain(): ReplayMeter {
  const counters = new Map<string, Charges>();
  let now = 0;

  const chargesOf = ({ key }: Counter): Charges => {
    const known = counters.get(key) ?? { ends: [], first: 0, used: 0 };
    counters.set(key, known);
    for (let next = known.ends[known.first]; next && next.at <= now; next = known.ends[known.first]) {
      known.used -= next.units;
      known.first += 1;
    }
    return known;
  };

  return {
    setTime(milliseconds) {
      now = milliseconds;
    },
    async reserve(_tenant, _callId, wanted) {
      const all = wanted.map(chargesOf);
      const full = wanted.findIndex(({ units, limit }, at) => (all[at]?.used ?? 0) + units > limit);
      if (full >= 0) return { full, used: all[full]?.used ?? 0, retryAtMs: null };
      for (const [at, { units, windowMs }] of wanted.entries()) {
        const charges = all[at];
        if (!charges) continue;
        charges.used += units;
        charges.ends.push({ at: windowMs === 0 ? Number.POSITIVE_INFINITY : now + windowMs, units });
      }
      return { reserved: true, used: all.map(({ used }) => used) };
    },
    async sent() {},
    refundUnsent: async () => true,
    usage: async (_tenant, wanted) => wanted.map((each) => ({ used: chargesOf(each).used, retryAtMs: null })),
    prune: async () => 0,
    health: async () => ({ ok: true, backend: 'memory', version: '', epoch: '', problems: [] }),
  };
}
