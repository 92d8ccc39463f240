import { type Insertable, type Selectable, sql, type Updateable } from 'kysely';
import type { Tenant } from '../../../platform/caller.ts';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import { readPage } from '../../../platform/db/page-rows.ts';
import type { Anomalies } from '../../../platform/db/types.gen.ts';
import type { AlertQuery, AnomalyQuery } from './anomalies.schema.ts';

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
        .where('status', '<>', 'resolved')
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
