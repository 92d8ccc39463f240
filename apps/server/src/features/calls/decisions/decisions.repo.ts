import type { Insertable, Selectable, Updateable } from 'kysely';
import type { Reach, Tenant } from '../../../platform/caller.ts';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import { eraserOf, exportOf } from '../../../platform/db/personal-data.ts';
import type { DecisionApprovals, Decisions } from '../../../platform/db/types.gen.ts';
import { grantsOf, grantsWithAgent } from '../../grants/grants/grants.queries.ts';

interface NamedCase {
  readonly tenant: Tenant;
  readonly grantId: string;
  readonly caseId: string;
}

/** The current version of a case. @returns undefined for a case that the developer has not declared for the grant */
export async function findDeclaredVersion(
  db: Executor,
  { tenant, grantId, caseId }: NamedCase,
): Promise<string | undefined> {
  const found = await db
    .selectFrom('decisionCases')
    .select('caseVersion')
    .where('developerId', '=', tenant.developerId)
    .where('caseId', '=', caseId)
    .where((row) => row(row.val(grantId), '=', row.fn.any('grantIds')))
    .executeTakeFirst();
  return found?.caseVersion;
}

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

const MAX_SEARCHED = 500; // of the agent's requests before this one

/** The last approved call of the tool by the same agent for the same person, not long before this one. */
export const findLastApproved = (db: Executor, row: DecisionRow): Promise<DecisionRow | undefined> =>
  db
    .selectFrom(
      decisionsOf(db, row)
        .where('agentId', '=', row.agentId)
        .where('id', '<', row.id)
        .orderBy('id', 'desc')
        .limit(MAX_SEARCHED)
        .as('before'),
    )
    .selectAll()
    .where('principalId', '=', row.principalId)
    .where('connector', '=', row.connector)
    .where('tool', '=', row.tool)
    .where('status', 'in', ['approved', 'consumed'])
    .orderBy('id', 'desc')
    .limit(1)
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

export const tellDecisions = exportOf('decision', 'decisions', [
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

interface NewCaseRow {
  readonly caseId: string;
  readonly caseVersion: string;
  /** Absent: the case keeps its grants. */
  readonly grantIds?: readonly string[];
}

/** Sets the version of a case. @returns its grants */
export async function setCase(
  tx: Tx,
  { developerId }: Tenant,
  { caseId, caseVersion, grantIds }: NewCaseRow,
): Promise<string[]> {
  const grants = grantIds && { grantIds: [...new Set(grantIds)] };
  const set = await tx
    .insertInto('decisionCases')
    .values({ developerId, caseId, caseVersion, grantIds: [], ...grants })
    .onConflict((there) => there.columns(['developerId', 'caseId']).doUpdateSet({ caseVersion, ...grants }))
    .returning('grantIds')
    .executeTakeFirstOrThrow();
  return set.grantIds;
}

/** Forgets a case. @returns its version, or undefined when it has none */
export async function deleteCase(tx: Tx, { developerId }: Tenant, caseId: string) {
  const deleted = await tx
    .deleteFrom('decisionCases')
    .where('developerId', '=', developerId)
    .where('caseId', '=', caseId)
    .returning('caseVersion')
    .executeTakeFirst();
  return deleted?.caseVersion;
}

export async function findCaseVersion(db: Executor, { developerId }: Tenant, caseId: string) {
  const found = await db
    .selectFrom('decisionCases')
    .select('caseVersion')
    .where('developerId', '=', developerId)
    .where('caseId', '=', caseId)
    .executeTakeFirst();
  return found?.caseVersion;
}

export const listGrants = (db: Executor, tenant: Tenant, ids: readonly string[]) =>
  grantsWithAgent(db, tenant)
    .where('grant.id', 'in', [...ids, ''])
    .orderBy('grant.id')
    .execute();

/** Those of some ids that are grants of the account, whatever became of them. */
export async function listKnownGrants(
  db: Executor,
  tenant: Tenant,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await grantsOf(db, tenant)
    .select('grant.id')
    .where('grant.id', 'in', [...ids, ''])
    .execute();
  return new Set(rows.map(({ id }) => id));
}
