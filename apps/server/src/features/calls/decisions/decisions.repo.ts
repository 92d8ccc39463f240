import type { Insertable, Selectable, Updateable } from 'kysely';
import type { Reach, Tenant } from '../../../platform/caller.ts';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import { eraserOf } from '../../../platform/db/erasure.ts';
import { tellerOf } from '../../../platform/db/personal-records.ts';
import type { DecisionApprovals, Decisions } from '../../../platform/db/types.gen.ts';

export type DecisionRow = Selectable<Decisions>;
export type ApprovalRow = Selectable<DecisionApprovals>;

export const decisionsOf = (db: Executor, { developerId }: Tenant) =>
  db.selectFrom('decisions').selectAll().where('developerId', '=', developerId);

/** @returns undefined when the same call has an open request */
export function insertDecision(
  tx: Tx,
  { developerId }: Tenant,
  row: Omit<Insertable<Decisions>, 'developerId'>,
): Promise<DecisionRow | undefined> {
  return tx
    .insertInto('decisions')
    .values({ ...row, developerId })
    .onConflict((there) =>
      there
        .columns(['developerId', 'grantId', 'actionHash'])
        .where('status', 'in', ['pending', 'approved'])
        .doNothing(),
    )
    .returningAll()
    .executeTakeFirst();
}

interface SameCall {
  readonly grantId: string;
  readonly actionHash: string;
}

/** The open request about the same call, whether or not its time is over. */
export const findOpen = (tx: Tx, tenant: Tenant, { grantId, actionHash }: SameCall) =>
  decisionsOf(tx, tenant)
    .where('grantId', '=', grantId)
    .where('actionHash', '=', actionHash)
    .where('status', 'in', ['pending', 'approved'])
    .executeTakeFirst();

/** The last refusal of the same call whose time is not over. */
export const findDenied = (tx: Tx, tenant: Tenant, { grantId, actionHash }: SameCall, at: Date) =>
  decisionsOf(tx, tenant)
    .where('grantId', '=', grantId)
    .where('actionHash', '=', actionHash)
    .where('status', '=', 'denied')
    .where('expiresAt', '>', at)
    .orderBy('id', 'desc')
    .executeTakeFirst();

/** The last request of a call, whose time is not over: the one that it uses, or that was made for it. */
export const findOfCall = (tx: Tx, tenant: Tenant, { grantId }: SameCall, callId: string, at: Date) =>
  decisionsOf(tx, tenant)
    .where('grantId', '=', grantId)
    .where(({ fn, eb }) => eb(fn.coalesce('callId', 'askedCallId'), '=', callId))
    .where('expiresAt', '>', at)
    .orderBy('id', 'desc')
    .executeTakeFirst();

export function findDecision(db: Executor, { tenant, agentIds }: Reach, id: string) {
  const own = decisionsOf(db, tenant).where('id', '=', id);
  return (agentIds ? own.where('agentId', 'in', agentIds) : own).executeTakeFirst();
}

export const lockDecision = (tx: Tx, { developerId }: Tenant, id: string): Promise<DecisionRow | undefined> =>
  tx
    .selectFrom('decisions')
    .selectAll()
    .where('developerId', '=', developerId)
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst();

export function updateDecision(
  tx: Tx,
  { developerId }: Tenant,
  id: string,
  change: Updateable<Decisions>,
): Promise<DecisionRow> {
  return tx
    .updateTable('decisions')
    .set(change)
    .where('developerId', '=', developerId)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** The last decision of the same case and tool, before this one. Ids have no order within a millisecond. */
export const findPrevious = (db: Executor, row: DecisionRow): Promise<DecisionRow | undefined> =>
  decisionsOf(db, row)
    .where('caseId', '=', row.caseId ?? '')
    .where('connector', '=', row.connector)
    .where('tool', '=', row.tool)
    .where('status', 'in', ['approved', 'consumed'])
    .where('id', '<>', row.id)
    .where('createdAt', '<=', row.createdAt)
    .orderBy('createdAt', 'desc')
    .orderBy('id', 'desc')
    .executeTakeFirst();

/** The open requests of a case, but for those at the version that stays. */
export function lockOpenOfCase(tx: Tx, { developerId }: Tenant, caseId: string, stays: string | undefined) {
  const open = tx
    .selectFrom('decisions')
    .selectAll()
    .where('developerId', '=', developerId)
    .where('caseId', '=', caseId)
    .where('status', 'in', ['pending', 'approved', 'consumed'])
    .where(({ or, eb }) => or([eb('status', '<>', 'consumed'), eb('hold', '=', 'sent')]))
    .orderBy('id')
    .forUpdate();
  return (stays === undefined ? open : open.where('caseVersion', 'is distinct from', stays)).execute();
}

export async function insertApproval(
  tx: Tx,
  { developerId }: Tenant,
  row: Omit<Insertable<DecisionApprovals>, 'developerId'>,
): Promise<void> {
  await tx
    .insertInto('decisionApprovals')
    .values({ ...row, developerId })
    .execute();
}

/** In the order of their positions. */
export function listApprovals(
  db: Executor,
  { developerId }: Tenant,
  decisionIds: readonly string[],
): Promise<ApprovalRow[]> {
  return db
    .selectFrom('decisionApprovals')
    .selectAll()
    .where('developerId', '=', developerId)
    .where('decisionId', 'in', [...decisionIds, ''])
    .orderBy('decisionId')
    .orderBy('position')
    .execute();
}

export async function deleteApprovals(tx: Tx, { developerId }: Tenant, decisionId: string): Promise<void> {
  await tx
    .deleteFrom('decisionApprovals')
    .where('developerId', '=', developerId)
    .where('decisionId', '=', decisionId)
    .execute();
}

export const tellDecisions = tellerOf('decision', 'decisions', [
  ...['connector', 'tool', 'status', 'case_id', 'created_at', 'expires_at'],
]);

/** Erases rows of a closed account. */
export const eraseDecisions = eraserOf(
  'decision_notices',
  'decision_channels',
  'decision_approvals',
  'decisions',
  'decision_cases',
);
