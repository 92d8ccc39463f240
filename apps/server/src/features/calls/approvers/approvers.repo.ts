import { type Insertable, type Selectable, sql, type Updateable } from 'kysely';
import type { Tenant } from '../../../platform/caller.ts';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import { readPage } from '../../../platform/db/page-rows.ts';
import { eraserOf, exportOf } from '../../../platform/db/personal-data.ts';
import type { ApproverSessions, ApproverSubscriptions, Approvers } from '../../../platform/db/types.gen.ts';
import type { ApproverQuery } from './approvers.schema.ts';

export type ApproverRow = Selectable<Approvers>;
export type ApproverSessionRow = Selectable<ApproverSessions>;
export type SubscriptionRow = Selectable<ApproverSubscriptions>;

const approversOf = (db: Executor, { developerId }: Tenant) =>
  db.selectFrom('approvers').selectAll().where('developerId', '=', developerId);

const MOST = 1000; // approvers of a developer

/** Every approver who was not removed, oldest first. */
export const listAllApprovers = (db: Executor, tenant: Tenant): Promise<ApproverRow[]> =>
  approversOf(db, tenant).where('status', '<>', 'removed').orderBy('id').limit(MOST).execute();

export const findApprover = (db: Executor, tenant: Tenant, id: string): Promise<ApproverRow | undefined> =>
  approversOf(db, tenant).where('id', '=', id).executeTakeFirst();

/** The columns of a link that is used up or withdrawn. */
export const NO_LINK = { inviteHash: null, inviteExpiresAt: null, recoveryFrom: null } as const;

export function insertApprover(
  tx: Tx,
  { developerId }: Tenant,
  row: Omit<Insertable<Approvers>, 'developerId'>,
): Promise<ApproverRow> {
  return tx
    .insertInto('approvers')
    .values({ ...row, developerId })
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Newest first. */
export function listApproverRows(db: Executor, tenant: Tenant, { cursor, limit }: ApproverQuery) {
  const all = approversOf(db, tenant).where('status', '<>', 'removed');
  const page = cursor ? all.where('id', '<', cursor) : all;
  return readPage(db, page.orderBy('id', 'desc'), limit);
}

export const lockApprover = (tx: Tx, { developerId }: Tenant, id: string): Promise<ApproverRow | undefined> =>
  tx
    .selectFrom('approvers')
    .selectAll()
    .where('developerId', '=', developerId)
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst();

export const findByMailbox = (db: Executor, tenant: Tenant, mailbox: string) =>
  approversOf(db, tenant).where('mailbox', '=', mailbox).where('status', '<>', 'removed').executeTakeFirst();

/** In one order, so that two removals at once see each other, and an account keeps its last approver. */
export async function lockAllApprovers(tx: Tx, { developerId }: Tenant): Promise<void> {
  await tx
    .selectFrom('approvers')
    .select('id')
    .where('developerId', '=', developerId)
    .where('status', '<>', 'removed')
    .orderBy('id')
    .forUpdate()
    .execute();
}

export function updateApprover(
  tx: Tx,
  { developerId }: Tenant,
  id: string,
  change: Updateable<Approvers>,
): Promise<ApproverRow> {
  return tx
    .updateTable('approvers')
    .set(change)
    .where('developerId', '=', developerId)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Inserts a session, and deletes those of the approver that have ended. */
export async function insertApproverSession(
  tx: Tx,
  { developerId }: Tenant,
  row: Omit<Insertable<ApproverSessions>, 'developerId'>,
  at: Date,
): Promise<ApproverSessionRow> {
  await tx
    .deleteFrom('approverSessions')
    .where('developerId', '=', developerId)
    .where('approverId', '=', row.approverId)
    .where('expiresAt', '<=', at)
    .execute();
  return tx
    .insertInto('approverSessions')
    .values({ ...row, developerId })
    .returningAll()
    .executeTakeFirstOrThrow();
}

export function findApproverSession(db: Executor, { developerId }: Tenant, id: string) {
  return db
    .selectFrom('approverSessions')
    .selectAll()
    .where('developerId', '=', developerId)
    .where('id', '=', id)
    .executeTakeFirst();
}

export async function touchSession(
  db: Executor,
  { developerId }: Tenant,
  id: string,
  at: Date,
): Promise<void> {
  await db
    .updateTable('approverSessions')
    .set({ lastSeenAt: at })
    .where('developerId', '=', developerId)
    .where('id', '=', id)
    .execute();
}

/** @param id only this session */
export async function deleteApproverSessions(
  tx: Tx,
  { developerId }: Tenant,
  approverId: string,
  id?: string,
): Promise<void> {
  const all = tx
    .deleteFrom('approverSessions')
    .where('developerId', '=', developerId)
    .where('approverId', '=', approverId);
  await (id === undefined ? all : all.where('id', '=', id)).execute();
}

/** Ends the sessions of the person in other browsers. */
export async function deleteOtherSessions(
  tx: Tx,
  { developerId }: Tenant,
  approverId: string,
  sessionId: string,
): Promise<void> {
  await tx
    .deleteFrom('approverSessions')
    .where('developerId', '=', developerId)
    .where('approverId', '=', approverId)
    .where('id', '<>', sessionId)
    .execute();
}

/** The browsers of these approvers, oldest first. */
export const listSubscriptionRows = (
  db: Executor,
  { developerId }: Tenant,
  approverIds: readonly string[],
): Promise<SubscriptionRow[]> =>
  db
    .selectFrom('approverSubscriptions')
    .selectAll()
    .where('developerId', '=', developerId)
    .where(sql<boolean>`approver_id = any(${approverIds})`)
    .orderBy('id')
    .execute();

export const findSubscription = (db: Executor, { developerId }: Tenant, id: string) =>
  db
    .selectFrom('approverSubscriptions')
    .selectAll()
    .where('developerId', '=', developerId)
    .where('id', '=', id)
    .executeTakeFirst();

/** @returns undefined where the account has the endpoint already */
export const insertSubscription = (
  tx: Tx,
  { developerId }: Tenant,
  row: Omit<Insertable<ApproverSubscriptions>, 'developerId'>,
): Promise<SubscriptionRow | undefined> =>
  tx
    .insertInto('approverSubscriptions')
    .values({ ...row, developerId })
    .onConflict((there) => there.columns(['developerId', 'endpointHash']).doNothing())
    .returningAll()
    .executeTakeFirst();

export const updateSubscription = (
  tx: Tx,
  { developerId }: Tenant,
  id: string,
  change: Updateable<ApproverSubscriptions>,
): Promise<SubscriptionRow> =>
  tx
    .updateTable('approverSubscriptions')
    .set(change)
    .where('developerId', '=', developerId)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();

/** Messages on their way to it go too. @param id only this browser @returns whether there was one */
export async function deleteSubscription(
  tx: Tx,
  { developerId }: Tenant,
  { approverId, id }: { readonly approverId: string; readonly id?: string },
): Promise<boolean> {
  const all = tx
    .deleteFrom('approverSubscriptions')
    .where('developerId', '=', developerId)
    .where('approverId', '=', approverId);
  const { numDeletedRows } = await (id === undefined
    ? all
    : all.where('id', '=', id)
  ).executeTakeFirstOrThrow();
  return numDeletedRows > 0n;
}

export const tellApprovers = exportOf('approver', 'approvers', [
  ...['email', 'display_name', 'status', 'groups', 'sso_sub', 'created_at', 'active_from'],
]);

/** The browsers of approvers, as a table whose rows name a principal. */
const browsersOfPrincipals = sql`(
  select s.developer_id, s.id, a.principal_id, s.created_at
  from approver_subscriptions s join approvers a on a.developer_id = s.developer_id and a.id = s.approver_id
) subscriptions`;

export const tellSubscriptions = exportOf('approver_notifications', browsersOfPrincipals, ['created_at']);

/** Erases rows of a closed account. */
export const eraseApprovers = eraserOf('approver_subscriptions', 'approver_sessions', 'approvers');
