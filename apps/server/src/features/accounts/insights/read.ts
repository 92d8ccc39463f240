import { denialKeys } from '@behest/protocol/enforcement/sentences';
import type { Caller, Tenant } from '../../../platform/caller.ts';
import type { Clock } from '../../../platform/clock.ts';
import { type Executor, inTransaction } from '../../../platform/db/db.ts';
import {
  addActivityAcrossTenants,
  deleteActivityBeforeAcrossTenants,
  findStart,
  type HourCount,
  listHours,
  sumHours,
} from './insights.repo.ts';
import {
  bucketOf,
  bucketsOf,
  type Counted,
  denialsOf,
  endOf,
  hourOf,
  hoursOf,
  keptSince,
} from './insights.rules.ts';
import type { Denials, DenialsQuery, Series, SeriesQuery } from './insights.schema.ts';

export interface ActivityBuffer {
  /** Never waits and never fails. */
  readonly count: (tenant: Tenant, metric: Counted) => void;
  /** Writes all counts. Those of a failed write wait for the next. */
  flush(): Promise<void>;
}

const AT_ONCE = 1000;

/** Counts in this process, so that nothing that is counted waits for a count. */
export function createActivityBuffer({
  db,
  clock,
}: {
  readonly db: Executor;
  readonly clock: Clock;
}): ActivityBuffer {
  const counts = new Map<string, HourCount>();
  let flushing: Promise<void> = Promise.resolve();

  const add = (more: HourCount) => {
    const key = `${more.developerId} ${more.metric} ${more.hour}`;
    counts.set(key, { ...more, count: more.count + (counts.get(key)?.count ?? 0) });
  };

  const write = async () => {
    while (counts.size > 0) {
      const some = [...counts].slice(0, AT_ONCE);
      for (const [key] of some) counts.delete(key);
      const each = some.map(([, counted]) => counted);
      try {
        await addActivityAcrossTenants(db, each);
      } catch (error) {
        for (const counted of each) add(counted);
        throw error;
      }
    }
  };

  return {
    count: ({ developerId }, metric) =>
      add({ developerId, metric, hour: hourOf(clock()).toISOString(), count: 1 }),
    flush() {
      flushing = flushing.catch(() => {}).then(write); // its own caller has the failure of the one before
      return flushing;
    },
  };
}

export interface InsightDeps {
  readonly db: Executor;
  readonly clock: Clock;
  readonly buffer: ActivityBuffer;
}

/**
 * Counts by hour or day. A caller sees its own acts at once, because this process writes what it has counted first.
 * @throws BAD_REQUEST
 */
export async function readSeries(
  { db, clock, buffer }: InsightDeps,
  { tenant }: Caller,
  query: SeriesQuery,
): Promise<Series> {
  const { metric, step, from, to } = query;
  const buckets = bucketsOf(query);
  const [first, last] = [buckets[0], buckets.at(-1)];
  await buffer.flush();
  const now = clock();
  const start = await findStart(db, tenant);
  const kept = keptSince(now);
  const knownSince = start && start > kept ? start : kept;
  const span = first && last && { from: first, to: endOf(last, step) };
  const rows = span ? await listHours(db, tenant, metric, span) : [];
  const sums = new Map<number, number>();
  for (const { hour, count } of rows) {
    const bucket = bucketOf(hour, step);
    sums.set(bucket, (sums.get(bucket) ?? 0) + Number(count));
  }
  const points = buckets.map((bucket) => {
    const isKnown = bucket >= knownSince && bucket <= now;
    return { at: bucket.toISOString(), count: isKnown ? (sums.get(bucket.getTime()) ?? 0) : null };
  });
  const total = points.reduce((sum, { count }) => sum + (count ?? 0), 0);
  return { metric, step, from, to, points, total, complete: points.every(({ count }) => count !== null) };
}

const ALL = 'denials';
const REASONS = new Map(denialKeys.map((reason) => [denialsOf(reason) as string, reason]));

/** Counts denials by their reason. @throws BAD_REQUEST */
export async function countDenials(
  { db, buffer }: InsightDeps,
  { tenant }: Caller,
  query: DenialsQuery,
): Promise<Denials> {
  const span = hoursOf(query);
  await buffer.flush();
  const rows = await sumHours(db, tenant, [ALL, ...REASONS.keys()], span);
  const groups = rows.flatMap(({ metric, count }) => {
    const reason = REASONS.get(metric);
    return reason === undefined ? [] : [{ reason, count: Number(count) }];
  });
  const total = Number(rows.find(({ metric }) => metric === ALL)?.count ?? 0);
  return { ...query, groups, total };
}

const BATCH = 1000;

export async function deleteOldActivity(
  { db, clock }: Pick<InsightDeps, 'db' | 'clock'>,
  signal: AbortSignal,
): Promise<void> {
  const before = keptSince(clock());
  const deleteSome = () => inTransaction(db, (tx) => deleteActivityBeforeAcrossTenants(tx, before, BATCH));
  while (!signal.aborted && (await deleteSome()) === BATCH);
}
