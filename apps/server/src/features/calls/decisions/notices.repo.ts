import type { Insertable, Selectable } from 'kysely';
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

/** Leaves a URL that was written meanwhile. */
export async function replaceSealed(
  db: Executor,
  before: Pick<ChannelRow, 'developerId' | 'id' | 'sealed'>,
  sealed: Pick<ChannelRow, 'sealed' | 'sealKeyId'>,
): Promise<void> {
  await db
    .updateTable('decisionChannels')
    .set(sealed)
    .where('developerId', '=', before.developerId)
    .where('id', '=', before.id)
    .where('sealed', '=', before.sealed)
    .execute();
}

/** Channels that another key than the current one has sealed, after one in the order of ids. */
export function listSealedOtherwiseAcrossTenants(
  db: Executor,
  keyId: string,
  after: Pick<ChannelRow, 'id'> | undefined,
  limit: number,
): Promise<ChannelRow[]> {
  return db
    .selectFrom('decisionChannels')
    .selectAll()
    .where('sealKeyId', '<>', keyId)
    .where('id', '>', after?.id ?? '')
    .orderBy('id')
    .limit(limit)
    .execute();
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

export const listDueNoticesAcrossTenants = (db: Executor, at: Date, limit: number): Promise<NoticeRow[]> =>
  db
    .selectFrom('decisionNotices')
    .selectAll()
    .where('nextAttemptAt', '<=', at)
    .orderBy('nextAttemptAt')
    .limit(limit)
    .execute();

interface Turn {
  readonly id: string;
  readonly nextAttemptAt: Date;
}

/** Takes a notice for one attempt. @returns false when another process has it */
export async function claimNotice(
  db: Executor,
  { developerId }: Tenant,
  { id, nextAttemptAt }: Turn,
  change: { readonly nextAttemptAt: Date; readonly attempts: number },
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('decisionNotices')
    .set(change)
    .where('developerId', '=', developerId)
    .where('id', '=', id)
    .where('nextAttemptAt', '=', nextAttemptAt)
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

export async function deleteNotice(db: Executor, { developerId }: Tenant, id: string): Promise<void> {
  await db
    .deleteFrom('decisionNotices')
    .where('developerId', '=', developerId)
    .where('id', '=', id)
    .execute();
}
