import { type Insertable, type Selectable, sql, type Updateable } from 'kysely';
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

/** The messages that are due, a few of each developer at most, so that none makes the others wait. */
export async function listDueMessagesAcrossTenants(
  db: Executor,
  at: Date,
  { each, all }: { readonly each: number; readonly all: number },
): Promise<MessageRow[]> {
  return db
    .selectFrom((due) =>
      due
        .selectFrom('anomalyMessages')
        .selectAll()
        .select(
          sql<string>`row_number() over (partition by developer_id order by next_attempt_at)`.as('turn'),
        )
        .where('nextAttemptAt', '<=', at)
        .as('due'),
    )
    .selectAll()
    .where('turn', '<=', String(each))
    .orderBy('nextAttemptAt')
    .limit(all)
    .execute();
}

/** Takes a message for one attempt, with its channel. @returns undefined when another process has it */
export function claimMessage(
  db: Executor,
  { developerId }: Tenant,
  { id, nextAttemptAt }: Pick<MessageRow, 'id' | 'nextAttemptAt'>,
  until: Date,
): Promise<ChannelRow | undefined> {
  return db
    .with('claimed', (claim) =>
      claim
        .updateTable('anomalyMessages')
        .set({ nextAttemptAt: until })
        .where('developerId', '=', developerId)
        .where('id', '=', id)
        .where('nextAttemptAt', '=', nextAttemptAt)
        .returning('channelId'),
    )
    .selectFrom('anomalyChannels')
    .selectAll()
    .where('developerId', '=', developerId)
    .where('id', 'in', (channel) => channel.selectFrom('claimed').select('channelId'))
    .executeTakeFirst();
}

export async function deleteMessage(db: Executor, { developerId }: Tenant, id: string): Promise<void> {
  await db
    .deleteFrom('anomalyMessages')
    .where('developerId', '=', developerId)
    .where('id', '=', id)
    .execute();
}

export async function postponeMessage(
  db: Executor,
  { developerId }: Tenant,
  id: string,
  { attempts, until }: { readonly attempts: number; readonly until: Date },
): Promise<void> {
  await db
    .updateTable('anomalyMessages')
    .set({ attempts, nextAttemptAt: until })
    .where('developerId', '=', developerId)
    .where('id', '=', id)
    .execute();
}

/** Channels after one, in the order of ids, that another key than the current one has sealed. */
export function listSealedOtherwiseAcrossTenants(
  db: Executor,
  currentKeyId: string,
  after: Pick<ChannelRow, 'developerId' | 'id'> = { developerId: '', id: '' },
  limit: number,
): Promise<ChannelRow[]> {
  return db
    .selectFrom('anomalyChannels')
    .selectAll()
    .where('sealKeyId', '<>', currentKeyId)
    .where(sql<boolean>`(developer_id, id) > (${after.developerId}, ${after.id})`)
    .orderBy('developerId')
    .orderBy('id')
    .limit(limit)
    .execute();
}

/** Leaves a configuration that was written meanwhile. */
export async function replaceSealed(
  db: Executor,
  before: Pick<ChannelRow, 'developerId' | 'id' | 'sealed'>,
  sealed: Pick<ChannelRow, 'sealed' | 'sealKeyId'>,
): Promise<void> {
  await db
    .updateTable('anomalyChannels')
    .set(sealed)
    .where('developerId', '=', before.developerId)
    .where('id', '=', before.id)
    .where('sealed', '=', before.sealed)
    .execute();
}
