import { sql } from 'kysely';
import type { Tenant } from '../../../platform/caller.ts';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import { eraserOf } from '../../../platform/db/personal-data.ts';
import { lookUp, statement } from '../../../platform/db/statement.ts';

export interface HourCount {
  readonly developerId: string;
  readonly metric: string;
  /** ISO 8601. */
  readonly hour: string;
  readonly count: number;
}

const adding = statement<never, [counts: string]>(
  'add_activity',
  `insert into activity_counts as known (developer_id, metric, hour, count)
   select "developerId", metric, hour, count
   from jsonb_to_recordset($1::jsonb) as counted ("developerId" text, metric text, hour timestamptz, count bigint)
   order by "developerId", metric, hour
   on conflict (developer_id, metric, hour) do update set count = known.count + excluded.count`,
);

/** Counts are added in the order of their keys, so that two processes do not wait in a circle. */
export async function addActivityAcrossTenants(db: Executor, counts: readonly HourCount[]): Promise<void> {
  await adding(db, JSON.stringify(counts));
}

interface HourRow {
  readonly hour: Date;
  readonly count: string;
}

const hours = lookUp<HourRow, [developerId: string, metric: string, from: Date, to: Date]>(
  'find_activity',
  `select hour, count::text from activity_counts
   where developer_id = $1 and metric = $2 and hour >= $3 and hour < $4 order by hour`,
);

/** The hours of a span in which something happened. */
export const listHours = (
  db: Executor,
  { developerId }: Tenant,
  metric: string,
  { from, to }: { readonly from: Date; readonly to: Date },
) => hours(db, developerId, metric, from, to);

const sums = lookUp<
  { readonly metric: string; readonly count: string },
  [developerId: string, metrics: readonly string[], from: Date, to: Date]
>(
  'sum_activity',
  `select metric, sum(count)::text as count from activity_counts
   where developer_id = $1 and metric = any ($2) and hour >= $3 and hour < $4
   group by metric order by sum(count) desc, metric`,
);

/** The sum of each of these counts in a span, those of which there is something, the greatest first. */
export const sumHours = (
  db: Executor,
  { developerId }: Tenant,
  metrics: readonly string[],
  { from, to }: { readonly from: Date; readonly to: Date },
) => sums(db, developerId, metrics, from, to);

const started = lookUp<{ readonly since: Date }, [developerId: string]>(
  'find_activity_start',
  'select since from activity_starts where developer_id = $1',
);

/** When counting began; undefined for an account that was counted from its beginning. */
export async function findStart(db: Executor, { developerId }: Tenant): Promise<Date | undefined> {
  return (await started(db, developerId))[0]?.since;
}

/** @returns how many rows it deleted */
export async function deleteActivityBeforeAcrossTenants(
  tx: Tx,
  before: Date,
  limit: number,
): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    delete from activity_counts where (developer_id, metric, hour) in
      (select developer_id, metric, hour from activity_counts where hour < ${before} order by hour limit ${limit})`.execute(
    tx,
  );
  return Number(numAffectedRows);
}

/** Erases rows of a closed account. */
export const eraseActivity = eraserOf('activity_counts', 'activity_starts');
