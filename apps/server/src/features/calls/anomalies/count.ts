import type { Tenant } from '../../../platform/caller.ts';
import type { Clock } from '../../../platform/clock.ts';
import { type Executor, inTransaction, type Tx } from '../../../platform/db/db.ts';
import {
  deleteCounts,
  EACH_ROUND,
  listRuleRows,
  lockState,
  type Position,
  type StateRow,
  updateState,
  upsertRule,
} from './anomalies.repo.ts';
import {
  builtInMeasures,
  isCounting,
  type Measure,
  measureOf,
  WINDOWS,
  type Window,
} from './anomalies.rules.ts';
import { countEntries, deleteOver, findNextSeqs, type SignedMeasure, sightFacts } from './counts.repo.ts';

export interface CountDeps {
  readonly db: Executor;
  readonly clock: Clock;
  /** The most entries that one statement reads, so that no statement is long. */
  readonly most?: number;
}

const MOST = 2000; // entries

const WEEK = 7 * 86_400; // seconds
const SIGHTED = WINDOWS['24h'];

const left: Readonly<Record<Window | 'week', { readonly position: Position; readonly seconds: number }>> = {
  '5m': { position: 'fiveMinutes', seconds: WINDOWS['5m'] },
  '15m': { position: 'quarterHour', seconds: WINDOWS['15m'] },
  '1h': { position: 'oneHour', seconds: WINDOWS['1h'] },
  '6h': { position: 'sixHours', seconds: WINDOWS['6h'] },
  '24h': { position: 'oneDay', seconds: WINDOWS['24h'] },
  week: { position: 'oneWeek', seconds: WEEK + WINDOWS['1h'] },
};

/** The time before which no window holds an entry. */
export const beforeAllWindows = (at: Date): Date => earlier(at, left.week.seconds);

/** The time from which no window holds an entry of an instant. */
export const afterAllWindows = (at: Date): Date => earlier(at, -left.week.seconds);

export const earlier = (at: Date, seconds: number): Date => new Date(at.getTime() - seconds * 1000);

/** The time at and before which a sighting is over. */
export const sightedSince = (at: Date): Date => earlier(at, SIGHTED);

/**
 * Brings a developer's counts to an instant: entries since the last time come in, and those that left a window go out.
 * So each entry is read once for each end of a window, however long the chain is.
 * @returns whether it arrived; the signal ends it before
 */
export async function countTo(
  deps: CountDeps,
  tenant: Tenant,
  at: Date,
  signal?: AbortSignal,
): Promise<boolean> {
  while (!signal?.aborted) {
    const hasMoved = await inTransaction(deps.db, (tx) => advance(tx, tenant, at, deps.most ?? MOST));
    if (!hasMoved) return true;
  }
  return false;
}

async function advance(tx: Tx, tenant: Tenant, at: Date, most: number): Promise<boolean> {
  const state = await lockState(tx, tenant);
  if (!state) return false;
  const rules = (await listRuleRows(tx, tenant)).filter(isCounting);
  for (const rule of rules.filter(({ isCounted }) => !isCounted)) {
    await countFromScratch(tx, tenant, state, { measure: measureOf(rule), at, most });
    await upsertRule(tx, tenant, rule, { isCounted: true });
  }
  const measures = [...builtInMeasures, ...rules.map(measureOf)];

  const moved: Partial<Record<Position, string>> = {};
  const windows = Object.entries(left)
    .map(([window, { position, seconds }]) => ({ window, position, after: state[position], seconds }))
    .filter(({ after }) => after !== state.head); // others have nothing to lose before the next transaction
  const bounds = windows.map(({ after, seconds }) => ({ after, until: earlier(at, seconds) }));
  const [head = state.head, ...nexts] = await findNextSeqs(
    tx,
    tenant,
    [{ after: state.head, until: at }, ...bounds],
    most,
  );
  if (head !== state.head) {
    const range = { after: state.head, until: head };
    await countEntries(tx, tenant, range, coming(measures));
    await sightFacts(tx, tenant, range, sightedSince(at));
    moved.head = head;
  }
  for (const [each, { window, position, after }] of windows.entries()) {
    const next = nexts[each] ?? after;
    const until = BigInt(next) > BigInt(head) ? head : next;
    if (BigInt(until) <= BigInt(after)) continue;
    const changes = leaving(measures, window);
    if (changes.length > 0) await countEntries(tx, tenant, { after, until }, changes);
    moved[position] = until;
  }
  if (Object.keys(moved).length > 0) await updateState(tx, tenant, { ...moved, dueAt: EACH_ROUND });
  else await deleteOver(tx, tenant, sightedSince(at));
  return Object.keys(moved).length > 0;
}

const coming = (measures: readonly Measure[]): SignedMeasure[] =>
  measures.filter(({ window }) => window !== 'week').map((measure) => ({ ...measure, sign: 1 }));

/** Entries that leave the hour come into the week before it. */
function leaving(measures: readonly Measure[], window: string): SignedMeasure[] {
  const out = measures.filter((measure) => measure.window === window);
  const into = window === '1h' ? measures.filter((measure) => measure.window === 'week') : [];
  return [
    ...out.map((measure) => ({ ...measure, sign: -1 as const })),
    ...into.map((measure) => ({ ...measure, sign: 1 as const })),
  ];
}

/** Counts the window of a rule that is new or was changed. */
async function countFromScratch(
  tx: Tx,
  tenant: Tenant,
  state: StateRow,
  { measure, at, most }: { measure: Measure; at: Date; most: number },
): Promise<void> {
  await deleteCounts(tx, tenant, measure.measure);
  let after = state[left[measure.window].position];
  while (BigInt(after) < BigInt(state.head)) {
    const [next = after] = await findNextSeqs(tx, tenant, [{ after, until: at }], most);
    const until = BigInt(next) > BigInt(state.head) ? state.head : next;
    if (until === after) return;
    await countEntries(tx, tenant, { after, until }, [{ ...measure, sign: 1 }]);
    after = until;
  }
}
