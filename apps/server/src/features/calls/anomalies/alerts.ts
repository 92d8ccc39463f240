import type { Caller } from '../../../platform/caller.ts';
import type { Clock } from '../../../platform/clock.ts';
import { type Executor, inTransaction } from '../../../platform/db/db.ts';
import { AppError, notFound } from '../../../platform/errors.ts';
import { byId, pageOf } from '../../../platform/paging.ts';
import { recordActs } from '../../record/audit/index.ts';
import {
  type AlertRow,
  addOpenAlerts,
  countAlerts,
  countOpenAlerts,
  deleteSighting,
  findAlert,
  listAlertRows,
  listAnomalyRows,
  lockState,
  updateAlert,
} from './anomalies.repo.ts';
import type {
  Alert,
  AlertNote,
  AlertPage,
  AlertQuery,
  Anomaly,
  AnomalyMetrics,
  AnomalyPage,
  AnomalyQuery,
  MetricsQuery,
} from './anomalies.schema.ts';
import { earlier } from './count.ts';

export interface AnomalyDeps {
  readonly db: Executor;
  readonly clock: Clock;
}

export async function listAnomalies(
  { db }: AnomalyDeps,
  { tenant }: Caller,
  query: AnomalyQuery,
): Promise<AnomalyPage> {
  const rows = await listAnomalyRows(db, tenant, query);
  const { page, nextCursor } = pageOf(rows, byId, toAnomaly);
  return { anomalies: page, total: await countOpenAlerts(db, tenant), nextCursor };
}

export async function listAlerts(
  { db }: AnomalyDeps,
  { tenant }: Caller,
  query: AlertQuery,
): Promise<AlertPage> {
  const { page, nextCursor } = pageOf(await listAlertRows(db, tenant, query), byId, toAlert);
  return { data: page, nextCursor };
}

/** @throws NOT_FOUND for an unknown alert and for a foreign one alike */
export async function getAlert({ db }: AnomalyDeps, { tenant }: Caller, id: string): Promise<Alert> {
  const row = await findAlert(db, tenant, id);
  if (!row) throw notFound();
  return toAlert(row);
}

/** A repeated call changes nothing. @throws NOT_FOUND, CONFLICT when the alert is resolved */
export const acknowledgeAlert = (deps: AnomalyDeps, caller: Caller, id: string, { note }: AlertNote) =>
  change(deps, caller, id, { to: 'acknowledged', note });

/** A repeated call changes nothing. @throws NOT_FOUND */
export const resolveAlert = (deps: AnomalyDeps, caller: Caller, id: string, { note }: AlertNote) =>
  change(deps, caller, id, { to: 'resolved', note });

interface Change {
  readonly to: 'acknowledged' | 'resolved';
  readonly note: string | undefined;
}

function change(deps: AnomalyDeps, caller: Caller, id: string, { to, note }: Change): Promise<AlertRow> {
  const at = deps.clock();
  return inTransaction(deps.db, async (tx) => {
    await lockState(tx, caller.tenant);
    const before = await findAlert(tx, caller.tenant, id);
    if (!before) throw notFound();
    if (before.status === to) return before;
    if (before.status === 'resolved') {
      throw new AppError('CONFLICT', 'The alert is resolved.', { status: before.status });
    }
    const times = to === 'acknowledged' ? { acknowledgedAt: at } : { resolvedAt: at };
    const columns = { status: to, ...times, ...(note !== undefined && { note }) };
    const row = await updateAlert(tx, caller.tenant, id, columns);
    if (to === 'resolved') await deleteSighting(tx, caller.tenant, row);
    if (before.status === 'open') await addOpenAlerts(tx, caller.tenant, -1);
    const { agentId, ruleId, principalId, grantId } = row;
    const about = { agentId, ...(principalId && { principalId }), ...(grantId && { grantId }) };
    await recordActs(tx, caller, [{ type: `anomaly.${to}`, ...about, data: { alertId: id, ruleId } }], at);
    return row;
  });
}

const WINDOW_SECONDS = { '1h': 3600, '6h': 21_600, '24h': 86_400, '7d': 604_800, '30d': 2_592_000 } as const;

export async function getMetrics(
  { db, clock }: AnomalyDeps,
  { tenant }: Caller,
  { window, agentId }: MetricsQuery,
): Promise<AnomalyMetrics> {
  const counted = await countAlerts(db, tenant, earlier(clock(), WINDOW_SECONDS[window]), agentId);
  const byStatus = { open: 0, acknowledged: 0, resolved: 0 };
  const bySeverity = { critical: 0, high: 0, medium: 0, low: 0 };
  const byRule: Record<string, number> = {};
  let total = 0;
  for (const { status, severity, ruleId, alerts } of counted) {
    const more = Number(alerts);
    total += more;
    byStatus[status] += more;
    bySeverity[severity] += more;
    byRule[ruleId] = (byRule[ruleId] ?? 0) + more;
  }
  return { window, total, byStatus, bySeverity, byRule };
}

export function toAnomaly(row: AlertRow): Anomaly {
  const { id, ruleId, severity, agentId, principalId, description, metadata } = row;
  return {
    id,
    type: ruleId,
    severity,
    agentId,
    principalId,
    description,
    metadata: Object(metadata),
    detectedAt: row.detectedAt.toISOString(),
    acknowledgedAt: row.acknowledgedAt?.toISOString() ?? null,
  };
}

export function toAlert(row: AlertRow): Alert {
  const { id, ruleId, ruleName, severity, status, agentId, principalId, grantId, description, note } = row;
  return {
    alertId: id,
    ruleId,
    ruleName,
    severity,
    status,
    agentId,
    principalId,
    grantId,
    detectedAt: row.detectedAt.toISOString(),
    lastSeenAt: row.lastSeenAt.toISOString(),
    occurrences: Number(row.occurrences),
    description,
    context: Object(row.metadata),
    acknowledgedAt: row.acknowledgedAt?.toISOString() ?? null,
    resolvedAt: row.resolvedAt?.toISOString() ?? null,
    note,
  };
}
