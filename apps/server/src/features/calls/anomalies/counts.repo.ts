import { sql } from 'kysely';
import type { Tenant } from '../../../platform/caller.ts';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import { firstEntryOf } from '../../record/audit/audit.queries.ts';
import { type Candidate, type Filter, MANAGEMENT } from './anomalies.rules.ts';

/** A position in the chain, and the time up to which it may move. */
export interface Bound {
  readonly after: string;
  readonly until: Date;
}

/** For each bound the last of the next entries, at most `most`, that are not after its time, or its position. */
export async function findNextSeqs(
  db: Executor,
  { developerId }: Tenant,
  bounds: readonly Bound[],
  most: number,
): Promise<string[]> {
  const { rows } = await sql<{ seq: string }>`
    select next_anomaly_seq(${developerId}, bound.after, bound.until, ${most}::integer) as seq
    from unnest(${bounds.map(({ after }) => after)}::bigint[], ${bounds.map(({ until }) => until)}::timestamptz[])
      with ordinality as bound (after, until, place)
    order by bound.place`.execute(db);
  return rows.map(({ seq }) => seq);
}

/** A part of the chain, without its first position. */
export interface Range {
  readonly after: string;
  readonly until: string;
}

export interface SignedMeasure extends Filter {
  readonly measure: string;
  /** Whether entries of the range come into the window, or leave it. */
  readonly sign: 1 | -1;
}

export async function countEntries(
  tx: Tx,
  { developerId }: Tenant,
  { after, until }: Range,
  measures: readonly SignedMeasure[],
): Promise<void> {
  const declared = JSON.stringify(measures);
  await sql`select count_anomaly_entries(${developerId}, ${after}::bigint, ${until}::bigint, ${declared}::jsonb,
    ${[...MANAGEMENT]}::text[])`.execute(tx);
}

/** Keeps the facts of a range that no count shows, unless they are older than `since`. */
export async function sightFacts(
  tx: Tx,
  { developerId }: Tenant,
  { after, until }: Range,
  since: Date,
): Promise<void> {
  await sql`select count_anomaly_sightings(${developerId}, ${after}::bigint, ${until}::bigint, ${since})`.execute(
    tx,
  );
}

/** Forgets sightings that are over, and counts that are empty. */
export async function deleteOver(tx: Tx, { developerId }: Tenant, until: Date): Promise<void> {
  await tx
    .deleteFrom('anomalySightings')
    .where('developerId', '=', developerId)
    .where('at', '<=', until)
    .execute();
  await tx
    .deleteFrom('anomalyCounts')
    .where('developerId', '=', developerId)
    .where('entries', '=', '0')
    .execute();
}

/** The counts at which a rule may fire, each with what it is compared with. @param least by measure */
export async function listCandidates(
  db: Executor,
  tenant: Tenant,
  least: Readonly<Record<string, number>>,
): Promise<Candidate[]> {
  const { developerId } = tenant;
  const rows = await db
    .selectFrom('anomalyCounts as count')
    .leftJoin('anomalyCounts as against', (join) =>
      join
        .onRef('against.developerId', '=', 'count.developerId')
        .onRef('against.agentId', '=', 'count.agentId')
        .on(
          'against.measure',
          '=',
          sql<string>`case count.measure when 'hour' then 'week' when 'failed' then 'day' end`,
        ),
    )
    .leftJoinLateral(firstEntryOf(db, tenant, sql<string>`count.agent_id`).as('first'), (join) =>
      join.on('count.measure', '=', 'hour'),
    )
    .select(['count.measure', 'count.agentId', 'count.entries', 'against.entries as against'])
    .select('first.at as firstAt')
    .where('count.developerId', '=', developerId)
    .where(sql<boolean>`count.entries >= (${JSON.stringify(least)}::jsonb ->> count.measure)::bigint`)
    .orderBy('count.agentId')
    .orderBy('count.measure')
    .execute();
  return rows.map(({ entries, against, ...row }) => ({
    ...row,
    entries: Number(entries),
    against: Number(against ?? 0),
  }));
}

/**
 * Whether a rule may fire, or continue an alert, although no entry comes. Otherwise none does: without entries a count
 * falls, and the counts that others are compared with matter only beside those.
 * @param least by measure
 */
export async function mayFireAgain(
  db: Executor,
  { developerId }: Tenant,
  least: Readonly<Record<string, number>>,
): Promise<boolean> {
  const { rows } = await sql<{ mayFire: boolean }>`
    select exists (select from anomaly_sightings where developer_id = ${developerId})
      or exists (select from anomaly_counts where developer_id = ${developerId}
        and entries >= (${JSON.stringify(least)}::jsonb ->> measure)::bigint) as may_fire`.execute(db);
  return rows[0]?.mayFire ?? false;
}

/** @param since facts of this time and before are over @param agentIds of these agents alone */
export function listSightings(
  db: Executor,
  { developerId }: Tenant,
  since: Date,
  agentIds?: readonly string[],
) {
  return db
    .selectFrom('anomalySightings')
    .select(['ruleId', 'agentId', 'principalId', 'grantId', 'metadata'])
    .where('developerId', '=', developerId)
    .where('at', '>', since)
    .$if(agentIds !== undefined, (all) => all.where('agentId', 'in', agentIds ?? []))
    .orderBy('at')
    .execute();
}
