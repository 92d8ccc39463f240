import type { Insertable, Selectable, Updateable } from 'kysely';
import type { Tenant } from '../../../platform/caller.ts';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import type { SsfStreams } from '../../../platform/db/types.gen.ts';
import { failingQueuesAcrossTenants, queuesOf } from '../../record/webhooks/queues.queries.ts';
import type { ReceiverRow } from './receivers.repo.ts';

export type StreamRow = Selectable<SsfStreams>;

/** Streams with their queues, oldest first. */
const streamsOf = (db: Executor, tenant: Tenant) =>
  db
    .selectFrom('ssfStreams as stream')
    .innerJoin(queuesOf(db, tenant), 'queue.streamId', 'stream.id')
    .selectAll('stream')
    .select(['queue.url', 'queue.failures', 'queue.failingSince'])
    .where('stream.developerId', '=', tenant.developerId)
    .orderBy('stream.id');

/** A stream with its queue. */
export type QueuedStream = Awaited<ReturnType<typeof listStreamRows>>[number];

/** The streams of a receiver, oldest first. There are a few at most. */
export const listStreamRows = (db: Executor, tenant: Tenant, receiverId: string) =>
  streamsOf(db, tenant).where('stream.receiverId', '=', receiverId).execute();

/** @returns undefined for a stream of another receiver too */
export const findStream = (db: Executor, tenant: Tenant, receiverId: string, id: string) =>
  streamsOf(db, tenant)
    .where('stream.receiverId', '=', receiverId)
    .where('stream.id', '=', id)
    .executeTakeFirst();

export function insertStream(
  tx: Tx,
  { developerId }: Tenant,
  stream: Omit<Insertable<SsfStreams>, 'developerId'>,
): Promise<StreamRow> {
  return tx
    .insertInto('ssfStreams')
    .values({ ...stream, developerId })
    .returningAll()
    .executeTakeFirstOrThrow();
}

export async function updateStream(
  tx: Tx,
  { developerId }: Tenant,
  id: string,
  change: Updateable<SsfStreams>,
): Promise<void> {
  await tx
    .updateTable('ssfStreams')
    .set(change)
    .where('developerId', '=', developerId)
    .where('id', '=', id)
    .execute();
}

export async function deleteStreamRow(tx: Tx, { developerId }: Tenant, id: string): Promise<void> {
  await tx.deleteFrom('ssfStreams').where('developerId', '=', developerId).where('id', '=', id).execute();
}

/** Notes a verification, unless the receiver asked for another after `since`. @returns whether it was noted */
export async function noteVerification(
  tx: Tx,
  { developerId }: Tenant,
  id: string,
  { at, since }: { readonly at: Date; readonly since: Date },
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('ssfStreams')
    .set({ verificationAskedAt: at })
    .where('developerId', '=', developerId)
    .where('id', '=', id)
    .where(({ eb, or }) =>
      or([eb('verificationAskedAt', 'is', null), eb('verificationAskedAt', '<=', since)]),
    )
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Needs no transaction, because it is one statement whose loss harms nobody. */
export async function notePoll(db: Executor, { developerId }: Tenant, id: string, at: Date): Promise<void> {
  await db
    .updateTable('ssfStreams')
    .set({ polledAt: at })
    .where('developerId', '=', developerId)
    .where('id', '=', id)
    .execute();
}

/** A receiver as signals to it are made. */
export type ListeningReceiver = Pick<ReceiverRow, 'audience' | 'subjectFormat' | 'subjectShape'>;

export function receiverOfStream(
  db: Executor,
  { developerId }: Tenant,
  streamId: string,
): Promise<ListeningReceiver | undefined> {
  return db
    .selectFrom('ssfStreams as stream')
    .innerJoin('ssfReceivers as receiver', (join) =>
      join
        .onRef('receiver.developerId', '=', 'stream.developerId')
        .onRef('receiver.id', '=', 'stream.receiverId'),
    )
    .select(['receiver.audience', 'receiver.subjectFormat', 'receiver.subjectShape'])
    .where('stream.developerId', '=', developerId)
    .where('receiver.developerId', '=', developerId)
    .where('stream.id', '=', streamId)
    .executeTakeFirst();
}

type NamedStream = Tenant & Pick<StreamRow, 'id'>;

/** Streams whose pushes have failed since `since`, and so often. */
export function listFailingAcrossTenants(
  db: Executor,
  { since, failures, limit }: { readonly since: Date; readonly failures: number; readonly limit: number },
): Promise<NamedStream[]> {
  return failingQueuesAcrossTenants(db, since, failures).limit(limit).execute();
}

/** Enabled streams that nobody has polled since. */
export function listInactiveAcrossTenants(db: Executor, since: Date, limit: number): Promise<NamedStream[]> {
  return db
    .selectFrom('ssfStreams')
    .select(['developerId', 'id'])
    .where('method', '=', 'poll')
    .where('status', '=', 'enabled')
    .where('polledAt', '<=', since)
    .orderBy('polledAt')
    .limit(limit)
    .execute();
}

/** Every stream, in the order of ids. */
export function listStreamsAcrossTenants(
  db: Executor,
  after: NamedStream,
  limit: number,
): Promise<NamedStream[]> {
  return db
    .selectFrom('ssfStreams')
    .select(['developerId', 'id'])
    .where(({ eb, refTuple, tuple }) =>
      eb(refTuple('developerId', 'id'), '>', tuple(after.developerId, after.id)),
    )
    .orderBy('developerId')
    .orderBy('id')
    .limit(limit)
    .execute();
}

/** Locks the receiver of a stream, so that the receiver and the service take turns. */
export function lockReceiverOfStream(
  tx: Tx,
  { developerId }: Tenant,
  streamId: string,
): Promise<Pick<ReceiverRow, 'id'> | undefined> {
  return tx
    .selectFrom('ssfReceivers as receiver')
    .select('receiver.id')
    .where('receiver.developerId', '=', developerId)
    .where('receiver.id', '=', ({ selectFrom }) =>
      selectFrom('ssfStreams as stream')
        .select('stream.receiverId')
        .where('stream.developerId', '=', developerId)
        .where('stream.id', '=', streamId),
    )
    .forUpdate('receiver')
    .executeTakeFirst();
}

/** Locks a stream, so that no poll of it is noted meanwhile. Its receiver is locked before. */
export async function lockStream(tx: Tx, { developerId }: Tenant, id: string): Promise<void> {
  await tx
    .selectFrom('ssfStreams')
    .select('id')
    .where('developerId', '=', developerId)
    .where('id', '=', id)
    .forUpdate()
    .execute();
}
