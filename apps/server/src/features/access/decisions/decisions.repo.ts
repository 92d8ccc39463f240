import { type Insertable, type Selectable, sql, type Updateable } from 'kysely';
import type { Reach, Tenant } from '../../../platform/caller.ts';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import { eraserOf } from '../../../platform/db/erasure.ts';
import { readPage } from '../../../platform/db/page-rows.ts';
import { tellerOf } from '../../../platform/db/personal-records.ts';
import type { DecisionApprovals, Decisions } from '../../../platform/db/types.gen.ts';
import { developersAcrossTenants } from '../../accounts/developers/developers.queries.ts';
import type { DecisionQuery, RoutedQuery } from './decisions.schema.ts';

export type DecisionRow = Selectable<Decisions>;
export type ApprovalRow = Selectable<DecisionApprovals>;

const decisionsOf = (db: Executor, { developerId }: Tenant) =>
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

/** Newest first. */
export function listDecisionRows(db: Executor, { tenant, agentIds }: Reach, query: DecisionQuery, at: Date) {
  const { cursor, limit, status, caseId, agentId, grantId } = query;
  let rows = decisionsOf(db, tenant);
  if (agentIds) rows = rows.where('agentId', 'in', agentIds);
  if (cursor) rows = rows.where('id', '<', cursor);
  if (caseId !== undefined) rows = rows.where('caseId', '=', caseId);
  if (agentId !== undefined) rows = rows.where('agentId', '=', agentId);
  if (grantId !== undefined) rows = rows.where('grantId', '=', grantId);
  if (status !== undefined) rows = withStatus(rows, status, at);
  return readPage(db, rows.orderBy('id', 'desc'), limit);
}

/** The requests that go to one of these approvers: the open ones as they expire, all others newest first. */
export function listRoutedRows(
  db: Executor,
  tenant: Tenant,
  approverIds: readonly string[],
  { status, cursor, limit }: RoutedQuery,
  at: Date,
) {
  const routed = decisionsOf(db, tenant).where(sql<boolean>`routed && ${[...approverIds]}::text[]`);
  const rows =
    status === 'ended'
      ? routed.where(({ or, eb }) => or([eb('status', '<>', 'pending'), eb('expiresAt', '<=', at)]))
      : withStatus(routed, status, at);
  if (status !== 'pending') {
    const page = cursor ? rows.where('id', '<', cursor) : rows;
    return readPage(db, page.orderBy('id', 'desc'), limit);
  }
  const page = cursor
    ? rows.where(({ eb, refTuple }) =>
        eb(
          refTuple('expiresAt', 'id'),
          '>',
          db
            .selectFrom('decisions')
            .select(['expiresAt', 'id'])
            .where('developerId', '=', tenant.developerId)
            .where('id', '=', cursor)
            .$asTuple('expiresAt', 'id'),
        ),
      )
    : rows;
  return readPage(db, page.orderBy('expiresAt').orderBy('id'), limit);
}

type Rows = ReturnType<typeof decisionsOf>;

/** `expired` and the open statuses follow from the clock. */
function withStatus(rows: Rows, status: DecisionRow['status'], at: Date): Rows {
  const stored = rows.where('status', '=', status);
  if (status === 'pending' || status === 'approved') return stored.where('expiresAt', '>', at);
  if (status !== 'expired') return stored;
  return rows.where(({ or, and, eb }) =>
    or([
      eb('status', '=', 'expired'),
      and([eb('status', 'in', ['pending', 'approved']), eb('expiresAt', '<=', at)]),
    ]),
  );
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

/**
 * Open requests whose time is over, or whose next reminder is due, with the account of each.
 * @param but the ids of requests that are left out
 */
export function listDueAcrossTenants(db: Executor, at: Date, but: readonly string[], limit: number) {
  return db
    .selectFrom('decisions as decision')
    .innerJoin(developersAcrossTenants(db), 'developer.developerId', 'decision.developerId')
    .selectAll('decision')
    .select(['developer.mode', 'developer.plan'])
    .where('decision.status', 'in', ['pending', 'approved'])
    .where('decision.dueAt', '<=', at)
    .where('decision.id', 'not in', [...but, ''])
    .orderBy('decision.dueAt')
    .limit(limit)
    .execute();
}

/** How many requests wait for people. */
export async function countWaitingAcrossTenants(db: Executor, at: Date, most: number): Promise<number> {
  const some = db
    .selectFrom('decisions')
    .select('id')
    .where('status', '=', 'pending')
    .where('expiresAt', '>', at)
    .limit(most);
  const counted = db.selectFrom(some.as('some')).select(({ fn }) => fn.countAll<string>().as('waiting'));
  return Number((await counted.executeTakeFirstOrThrow()).waiting);
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
