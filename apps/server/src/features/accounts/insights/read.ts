import type { Caller } from '../../../platform/caller.ts';
import type { Clock } from '../../../platform/clock.ts';
import { type Executor, inTransaction } from '../../../platform/db/db.ts';
import type { ActivityBuffer } from './buffer.ts';
import { deleteActivityBeforeAcrossTenants, findStart, listHours } from './insights.repo.ts';
import { bucketOf, bucketsOf, endOf, keptSince } from './insights.rules.ts';
import type { Series, SeriesQuery } from './insights.schema.ts';

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

const BATCH = 1000;

export async function deleteOldActivity(
  { db, clock }: Pick<InsightDeps, 'db' | 'clock'>,
  signal: AbortSignal,
): Promise<void> {
  const before = keptSince(clock());
  const deleteSome = () => inTransaction(db, (tx) => deleteActivityBeforeAcrossTenants(tx, before, BATCH));
  while (!signal.aborted && (await deleteSome()) === BATCH);
}
