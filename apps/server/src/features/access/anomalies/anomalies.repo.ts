import { type Selectable, sql } from 'kysely';
import type { Tenant } from '../../../platform/caller.ts';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import { eraserOf } from '../../../platform/db/erasure.ts';
import { tellerOf } from '../../../platform/db/personal-records.ts';
import type { AnomalyStates } from '../../../platform/db/types.gen.ts';
import { developersAcrossTenants } from '../../accounts/developers/developers.queries.ts';
import { firstEntryOf, firstSeqSince, headsAcrossTenants } from '../../record/audit/audit.queries.ts';
import { type Filter, MANAGEMENT } from './anomalies.builtin.rules.ts';
import type { Candidate } from './anomalies.rules.ts';

export type StateRow = Selectable<AnomalyStates>;

/** The columns that are positions in the chain. */
export type Position = 'head' | 'fiveMinutes' | 'quarterHour' | 'oneHour' | 'sixHours' | 'oneDay' | 'oneWeek';

/** Begins a developer's state before the first entry that any window holds. Keeps a state that is there. */
export async function ensureState(db: Executor, tenant: Tenant, since: Date): Promise<void> {
  const seq = sql<string>`${firstSeqSince(tenant, since)} - 1`;
  await db
    .insertInto('anomalyStates')
    .values({
      developerId: tenant.developerId,
      head: seq,
      fiveMinutes: seq,
      quarterHour: seq,
      oneHour: seq,
      sixHours: seq,
      oneDay: seq,
      oneWeek: seq,
    })
    .onConflict((conflict) => conflict.column('developerId').doNothing())
    .execute();
}

/** Lets other detections, and changes of alerts, wait for the end of this transaction. */
export function lockState(tx: Tx, { developerId }: Tenant): Promise<StateRow | undefined> {
  return tx
    .selectFrom('anomalyStates')
    .selectAll()
    .where('developerId', '=', developerId)
    .forUpdate()
    .executeTakeFirst();
}

export async function updateState(
  tx: Tx,
  { developerId }: Tenant,
  change: Partial<Omit<StateRow, 'developerId'>>,
): Promise<void> {
  await tx.updateTable('anomalyStates').set(change).where('developerId', '=', developerId).execute();
}

/** Adds to the number of open alerts. */
export async function addOpenAlerts(tx: Tx, { developerId }: Tenant, more: number): Promise<void> {
  if (more === 0) return;
  await tx
    .updateTable('anomalyStates')
    .set({ openAlerts: sql`open_alerts + ${more}::bigint` })
    .where('developerId', '=', developerId)
    .execute();
}

export async function countOpenAlerts(db: Executor, { developerId }: Tenant): Promise<number> {
  const state = await db
    .selectFrom('anomalyStates')
    .select('openAlerts')
    .where('developerId', '=', developerId)
    .executeTakeFirst();
  return Number(state?.openAlerts ?? 0);
}

/** The last of the next entries that are not after an instant. @returns `after` when there are none */
export async function findNextSeq(
  db: Executor,
  { developerId }: Tenant,
  { after, until, most }: { readonly after: string; readonly until: Date; readonly most: number },
): Promise<string> {
  const { rows } = await sql<{ seq: string }>`
    select next_anomaly_seq(${developerId}, ${after}::bigint, ${until}, ${most}::integer) as seq`.execute(db);
  return rows[0]?.seq ?? after;
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
  await sql`select sight_anomalies(${developerId}, ${after}::bigint, ${until}::bigint, ${since})`.execute(tx);
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

/** Developers after one whose chains have entries that some window still holds, or that nobody has counted. */
export function listUnsettledAcrossTenants(db: Executor, after: string, limit: number) {
  return db
    .selectFrom(headsAcrossTenants(db))
    .innerJoin(developersAcrossTenants(db), 'developer.developerId', 'head.developerId')
    .leftJoin('anomalyStates as state', 'state.developerId', 'head.developerId')
    .select(['head.developerId', 'developer.mode', 'developer.plan'])
    .where('head.developerId', '>', after)
    .where((row) =>
      row.or([
        row('state.developerId', 'is', null),
        row('state.oneWeek', '<', row.ref('head.seq')),
        row('state.head', '<', row.ref('head.seq')),
      ]),
    )
    .orderBy('head.developerId')
    .limit(limit)
    .execute();
}

/** Takes the lease of a developer's periodic run. @returns whether no other instance has it */
export async function takeLease(
  db: Executor,
  { developerId }: Tenant,
  at: Date,
  until: Date,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('anomalyStates')
    .set({ leasedUntil: until })
    .where('developerId', '=', developerId)
    .where((row) => row.or([row('leasedUntil', 'is', null), row('leasedUntil', '<=', at)]))
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

export async function leaveLease(db: Executor, { developerId }: Tenant, until: Date): Promise<void> {
  await db
    .updateTable('anomalyStates')
    .set({ leasedUntil: null })
    .where('developerId', '=', developerId)
    .where('leasedUntil', '=', until)
    .execute();
}

/** Erases rows of a closed account. */
export const eraseAnomalies = eraserOf(
  'anomaly_messages',
  'anomaly_channels',
  'anomaly_counts',
  'anomaly_sightings',
  'anomalies',
  'anomaly_rules',
  'anomaly_states',
);

export const tellAlerts = tellerOf('alert', 'anomalies', [
  ...[
    'rule_id',
    'rule_name',
    'severity',
    'status',
    'agent_id',
    'grant_id',
    'description',
    'metadata',
    'occurrences',
  ],
  ...['detected_at', 'last_seen_at', 'acknowledged_at', 'resolved_at', 'note'],
]);
