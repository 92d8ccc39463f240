import type { Insertable, Selectable, Updateable } from 'kysely';
import type { Tenant } from '../../../platform/caller.ts';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import type { AnomalyChannels, AnomalyMessages } from '../../../platform/db/types.gen.ts';

export type ChannelRow = Selectable<AnomalyChannels>;
export type MessageRow = Selectable<AnomalyMessages>;

/** Oldest first. */
export function listChannelRows(db: Executor, { developerId }: Tenant): Promise<ChannelRow[]> {
  return db
    .selectFrom('anomalyChannels')
    .selectAll()
    .where('developerId', '=', developerId)
    .orderBy('id')
    .execute();
}

export function insertChannel(
  tx: Tx,
  { developerId }: Tenant,
  channel: Omit<Insertable<AnomalyChannels>, 'developerId'>,
): Promise<ChannelRow> {
  return tx
    .insertInto('anomalyChannels')
    .values({ ...channel, developerId })
    .returningAll()
    .executeTakeFirstOrThrow();
}

export function updateChannel(
  db: Executor,
  { developerId }: Tenant,
  id: string,
  change: Updateable<AnomalyChannels>,
): Promise<ChannelRow | undefined> {
  return db
    .updateTable('anomalyChannels')
    .set(change)
    .where('developerId', '=', developerId)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst();
}

/** Deletes a channel with the messages on their way to it. @returns whether it was there */
export async function deleteChannel(tx: Tx, { developerId }: Tenant, id: string): Promise<boolean> {
  await tx
    .deleteFrom('anomalyMessages')
    .where('developerId', '=', developerId)
    .where('channelId', '=', id)
    .execute();
  const { numDeletedRows } = await tx
    .deleteFrom('anomalyChannels')
    .where('developerId', '=', developerId)
    .where('id', '=', id)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

export async function insertMessages(
  tx: Tx,
  { developerId }: Tenant,
  messages: readonly Omit<Insertable<AnomalyMessages>, 'developerId'>[],
): Promise<void> {
  await tx
    .insertInto('anomalyMessages')
    .values(messages.map((message) => ({ ...message, developerId })))
    .execute();
}
