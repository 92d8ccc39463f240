import { type Selectable, sql } from 'kysely';
import type { Tenant } from '../../../platform/caller.ts';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import { eraserOf } from '../../../platform/db/erasure.ts';
import { tellerOf } from '../../../platform/db/personal-records.ts';
import type { AnomalyStates } from '../../../platform/db/types.gen.ts';
import { developersAcrossTenants } from '../../accounts/developers/developers.queries.ts';
import { firstSeqSince, headsAcrossTenants } from '../../record/audit/audit.queries.ts';

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
