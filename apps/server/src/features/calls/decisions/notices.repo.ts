import { type Insertable, type Selectable, sql } from 'kysely';
import type { Tenant } from '../../../platform/caller.ts';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import type { DecisionChannels, DecisionNotices } from '../../../platform/db/types.gen.ts';

export type ChannelRow = Selectable<DecisionChannels>;
export type NoticeRow = Selectable<DecisionNotices>;

/** Oldest first. */
export const listChannelRows = (db: Executor, { developerId }: Tenant): Promise<ChannelRow[]> =>
  db
    .selectFrom('decisionChannels')
    .selectAll()
    .where('developerId', '=', developerId)
    .orderBy('id')
    .execute();

export function insertChannel(
  tx: Tx,
  { developerId }: Tenant,
  row: Omit<Insertable<DecisionChannels>, 'developerId'>,
): Promise<ChannelRow> {
  return tx
    .insertInto('decisionChannels')
    .values({ ...row, developerId })
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Messages on their way to it go too. @returns whether it was there */
export async function deleteChannel(tx: Tx, { developerId }: Tenant, id: string): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('decisionChannels')
    .where('developerId', '=', developerId)
    .where('id', '=', id)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

export async function insertNotices(
  tx: Tx,
  { developerId }: Tenant,
  notices: readonly Omit<Insertable<DecisionNotices>, 'developerId'>[],
): Promise<void> {
  if (notices.length === 0) return;
  await tx
    .insertInto('decisionNotices')
    .values(notices.map((notice) => ({ ...notice, developerId })))
    .execute();
}

/** Deletes what was to be said about a decision, which no longer holds. */
export async function deleteNotices(tx: Tx, { developerId }: Tenant, decisionId: string): Promise<void> {
  await tx
    .deleteFrom('decisionNotices')
    .where('developerId', '=', developerId)
    .where('decisionId', '=', decisionId)
    .execute();
}

/** Locks notices in the order of their ids, as each statement about many does: in two orders, two would stop each other. */
const lockedInOrder = (db: Executor, { developerId }: Tenant, ids: readonly string[]) =>
  db.with('locked', (query) =>
    query
      .selectFrom('decisionNotices')
      .select('id')
      .where('developerId', '=', developerId)
      .where(sql<boolean>`id = any(${ids})`)
      .orderBy('id')
      .forUpdate(),
  );

export async function deleteGathered(db: Executor, tenant: Tenant, ids: readonly string[]): Promise<void> {
  await lockedInOrder(db, tenant, ids)
    .deleteFrom('decisionNotices')
    .where('developerId', '=', tenant.developerId)
    .where('id', 'in', (query) => query.selectFrom('locked').select('locked.id'))
    .execute();
}

/** Whom a notice goes to: one of the three. */
export type Recipient = Pick<NoticeRow, 'approverId' | 'channelId' | 'subscriptionId'>;

const isOrNull = (column: string, id: string | null) =>
  id === null ? sql`${sql.ref(column)} is null` : sql`${sql.ref(column)} = ${id}`;

const goesTo = ({ approverId, channelId, subscriptionId }: Recipient) =>
  sql<boolean>`${isOrNull('approver_id', approverId)} and ${isOrNull('channel_id', channelId)}
    and ${isOrNull('subscription_id', subscriptionId)}`;

export type DueDigest = Recipient & Pick<NoticeRow, 'developerId' | 'attempts'>;

/** In one look: the digests of a few recipients of each developer, so that none makes the others wait. */
const AT_ONCE = { each: 4, all: 20 };

/** The recipients for whom a digest is due, those who wait longest first. */
export async function listDueDigestsAcrossTenants(db: Executor, at: Date): Promise<DueDigest[]> {
  const due = sql<DueDigest>`
    select developer_id, approver_id, channel_id, subscription_id, attempts from (
      select developer_id, approver_id, channel_id, subscription_id, max(attempts) as attempts, min(next_attempt_at) as since,
        row_number() over (partition by developer_id order by min(next_attempt_at)) as turn
      from decision_notices where is_gathered and next_attempt_at <= ${at}
      group by developer_id, approver_id, channel_id, subscription_id
    ) due
    where turn <= ${AT_ONCE.each} order by since limit ${AT_ONCE.all}`;
  return (await due.execute(db)).rows;
}

/** The time at which the next digest of a recipient is sent, where one waits. */
export async function gatheredUntil(
  db: Executor,
  { developerId }: Tenant,
  recipient: Recipient,
  at: Date,
): Promise<Date | undefined> {
  const found = await db
    .selectFrom('decisionNotices')
    .select('nextAttemptAt')
    .where('developerId', '=', developerId)
    .where(goesTo(recipient))
    .where('isGathered', '=', true)
    .where('nextAttemptAt', '>', at)
    .limit(1)
    .executeTakeFirst();
  return found?.nextAttemptAt;
}

/** How many of these decisions still wait for people. */
export async function countOpen(
  db: Executor,
  { developerId }: Tenant,
  decisionIds: readonly string[],
  at: Date,
): Promise<number> {
  const { open } = await db
    .selectFrom('decisions')
    .select((row) => row.fn.countAll<string>().as('open'))
    .where('developerId', '=', developerId)
    .where(sql<boolean>`id = any(${decisionIds})`)
    .where('status', '=', 'pending')
    .where('expiresAt', '>', at)
    .executeTakeFirstOrThrow();
  return Number(open);
}

/** Lets notices wait for a digest, of which so many attempts were made. */
export async function gather(
  db: Executor,
  tenant: Tenant,
  ids: readonly string[],
  { until, attempts }: { readonly until: Date; readonly attempts: number },
): Promise<void> {
  await lockedInOrder(db, tenant, ids)
    .updateTable('decisionNotices')
    .set({ isGathered: true, nextAttemptAt: until, attempts })
    .where('developerId', '=', tenant.developerId)
    .where('id', 'in', (query) => query.selectFrom('locked').select('locked.id'))
    .execute();
}

/** Notices of one digest. Those beyond them are due for another one. */
const MAX_CLAIMED = 500;

/** Takes what is due for one digest, oldest first. The second of two processes takes none of it. */
export async function claimGathered(
  db: Executor,
  { developerId }: Tenant,
  recipient: Recipient,
  at: Date,
  until: Date,
): Promise<NoticeRow[]> {
  const claimed = await db
    .with('oldest', (query) =>
      query
        .selectFrom('decisionNotices')
        .select('id')
        .where('developerId', '=', developerId)
        .where(goesTo(recipient))
        .where('isGathered', '=', true)
        .where('nextAttemptAt', '<=', at)
        .orderBy('id')
        .limit(MAX_CLAIMED)
        .forUpdate(),
    )
    .updateTable('decisionNotices')
    .set((row) => ({ nextAttemptAt: until, attempts: row('attempts', '+', 1) }))
    .where('developerId', '=', developerId)
    .where('id', 'in', (query) => query.selectFrom('oldest').select('oldest.id'))
    .returningAll()
    .execute();
  return claimed.sort((one, other) => (one.id < other.id ? -1 : 1));
}
