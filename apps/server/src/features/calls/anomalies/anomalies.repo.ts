import { type Insertable, type Selectable, sql, type Updateable } from 'kysely';
import type { Tenant } from '../../../platform/caller.ts';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import { readPage } from '../../../platform/db/page-rows.ts';
import { eraserOf, exportOf } from '../../../platform/db/personal-data.ts';
import type { Anomalies, AnomalyRules, AnomalyStates, Developers } from '../../../platform/db/types.gen.ts';
import { developersAcrossTenants } from '../../accounts/developers/developers.queries.ts';
import { firstSeqSince, headsAcrossTenants } from '../../record/audit/audit.queries.ts';
import type { AlertQuery, AnomalyQuery } from './anomalies.schema.ts';

export type StateRow = Selectable<AnomalyStates>;

/** The columns that are positions in the chain. */
export type Position = 'head' | 'fiveMinutes' | 'quarterHour' | 'oneHour' | 'sixHours' | 'oneDay' | 'oneWeek';

/** The time from which an account is due that detection looks at in each round. */
export const EACH_ROUND = new Date(0);

/**
 * Begins a developer's state before the first entry that any window holds. Keeps a state that is there, and then does not
 * look for that entry.
 */
export async function ensureState(db: Executor, tenant: Tenant, since: Date): Promise<void> {
  const { developerId } = tenant;
  await sql`
    insert into anomaly_states
      (developer_id, head, five_minutes, quarter_hour, one_hour, six_hours, one_day, one_week)
    select ${developerId}, seq, seq, seq, seq, seq, seq, seq
    from (select ${firstSeqSince(tenant, since)} - 1 as seq
      where not exists (select from anomaly_states where developer_id = ${developerId}) offset 0) as first
    on conflict do nothing`.execute(db);
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

/**
 * Of the next chains after one those that have entries that nobody has counted, or are due without. The last of the next
 * chains is among them, due or not. Two parts of primary keys are read side by side and then joined, so that an account
 * that is not due costs less than a page, and the plan is the same whatever the statistics say.
 * @param most chains that are looked at
 */
export async function listDueAcrossTenants(db: Executor, after: string, at: Date, most: number) {
  const { rows } = await sql<Pick<Developers, 'mode' | 'plan'> & { developerId: string; isDue: boolean }>`
    with chain as materialized (
      select head.developer_id, head.seq from ${headsAcrossTenants(db)}
      where head.developer_id > ${after} order by head.developer_id limit ${most}
    ), last as materialized (
      select max(developer_id) as developer_id from chain
    ), state as materialized (
      select developer_id, head, due_at from anomaly_states
      where developer_id > ${after} and developer_id <= (select developer_id from last)
      order by developer_id
    ), looked as materialized (
      select chain.developer_id,
        state.developer_id is null or state.head < chain.seq or coalesce(state.due_at <= ${at}, false) as is_due
      from chain left join state using (developer_id)
    )
    select looked.developer_id, looked.is_due, account.mode, account.plan
    from looked cross join lateral (
      select developer.mode, developer.plan from ${developersAcrossTenants(db)}
      where developer.developer_id = looked.developer_id limit 1
    ) account
    where looked.is_due or looked.developer_id = (select developer_id from last)
    order by looked.developer_id`.execute(db);
  return rows;
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

export const tellAlerts = exportOf('alert', 'anomalies', [
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

export type AlertRow = Selectable<Anomalies>;

/**
 * Writes alerts, and continues those that are not resolved. @returns the rows, of which new ones have occurred once.
 */
export function upsertAlerts(
  tx: Tx,
  { developerId }: Tenant,
  alerts: readonly Omit<Insertable<Anomalies>, 'developerId'>[],
): Promise<AlertRow[]> {
  if (alerts.length === 0) return Promise.resolve([]);
  return tx
    .insertInto('anomalies')
    .values(alerts.map((alert) => ({ ...alert, developerId })))
    .onConflict((conflict) =>
      conflict
        .columns(['developerId', 'ruleId', 'agentId', 'principalId', 'grantId'])
        .where('status', '<>', sql<'resolved'>`'resolved'`) // a parameter would not name the index in a kept plan
        .doUpdateSet({
          occurrences: sql`anomalies.occurrences + 1`,
          lastSeenAt: sql`excluded.last_seen_at`,
          metadata: sql`excluded.metadata`,
        }),
    )
    .returningAll()
    .execute();
}

/** Newest first. */
export function listAnomalyRows(
  db: Executor,
  { developerId }: Tenant,
  { unacknowledged, cursor, limit }: AnomalyQuery,
) {
  let page = db.selectFrom('anomalies').selectAll().where('developerId', '=', developerId);
  if (unacknowledged === 'true') page = page.where('status', '=', 'open');
  if (cursor) page = page.where('id', '<', cursor);
  return readPage(db, page.orderBy('id', 'desc'), limit);
}

/** Newest first. */
export function listAlertRows(
  db: Executor,
  { developerId }: Tenant,
  { status, severity, agentId, cursor, limit }: AlertQuery,
) {
  let page = db.selectFrom('anomalies').selectAll().where('developerId', '=', developerId);
  if (status) page = page.where('status', '=', status);
  if (severity) page = page.where('severity', '=', severity);
  if (agentId !== undefined) page = page.where('agentId', '=', agentId);
  if (cursor) page = page.where('id', '<', cursor);
  return readPage(db, page.orderBy('id', 'desc'), limit);
}

export function findAlert(db: Executor, { developerId }: Tenant, id: string) {
  return db
    .selectFrom('anomalies')
    .selectAll()
    .where('developerId', '=', developerId)
    .where('id', '=', id)
    .executeTakeFirst();
}

export function updateAlert(tx: Tx, { developerId }: Tenant, id: string, change: Updateable<Anomalies>) {
  return tx
    .updateTable('anomalies')
    .set(change)
    .where('developerId', '=', developerId)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Forgets the sighting of an alert, so that only another one makes the next alert. */
export async function deleteSighting(tx: Tx, { developerId }: Tenant, alert: AlertRow): Promise<void> {
  await tx
    .deleteFrom('anomalySightings')
    .where('developerId', '=', developerId)
    .where('ruleId', '=', alert.ruleId)
    .where('agentId', '=', alert.agentId)
    .where('principalId', '=', alert.principalId ?? '')
    .where('grantId', '=', alert.grantId ?? '')
    .execute();
}

/** The alerts since a time, counted by status, severity and rule together. */
export function countAlerts(db: Executor, { developerId }: Tenant, since: Date, agentId?: string) {
  let all = db.selectFrom('anomalies').where('developerId', '=', developerId).where('detectedAt', '>', since);
  if (agentId !== undefined) all = all.where('agentId', '=', agentId);
  return all
    .select(({ fn }) => ['status', 'severity', 'ruleId', fn.countAll<string>().as('alerts')])
    .groupBy(['status', 'severity', 'ruleId'])
    .execute();
}

export type RuleRow = Selectable<AnomalyRules>;

/** The developer's own rules and changes of built-in ones, oldest first. */
export function listRuleRows(db: Executor, { developerId }: Tenant): Promise<RuleRow[]> {
  return db
    .selectFrom('anomalyRules')
    .selectAll()
    .where('developerId', '=', developerId)
    .orderBy('createdAt')
    .orderBy('ruleId')
    .execute();
}

export async function upsertRule(
  tx: Tx,
  { developerId }: Tenant,
  rule: Omit<Insertable<AnomalyRules>, 'developerId'>,
  change: Updateable<AnomalyRules>,
): Promise<RuleRow> {
  return tx
    .insertInto('anomalyRules')
    .values({ ...rule, developerId })
    .onConflict((conflict) => conflict.columns(['developerId', 'ruleId']).doUpdateSet(change))
    .returningAll()
    .executeTakeFirstOrThrow();
}

export async function deleteRule(tx: Tx, { developerId }: Tenant, ruleId: string): Promise<void> {
  await tx
    .deleteFrom('anomalyRules')
    .where('developerId', '=', developerId)
    .where('ruleId', '=', ruleId)
    .execute();
}

/** Forgets what was counted by a rule. */
export async function deleteCounts(tx: Tx, { developerId }: Tenant, measure: string): Promise<void> {
  await tx
    .deleteFrom('anomalyCounts')
    .where('developerId', '=', developerId)
    .where('measure', '=', measure)
    .execute();
}
