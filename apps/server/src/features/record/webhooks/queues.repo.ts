import { type Selectable, sql } from 'kysely';
import type { Tenant } from '../../../platform/caller.ts';
import { tellAfterCommit } from '../../../platform/db/commit-effects.ts';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import type { WebhookDeliveries, WebhookEndpoints } from '../../../platform/db/types.gen.ts';

export type StreamState = NonNullable<Selectable<WebhookEndpoints>['streamState']>;

/** A signal that a receiver has fetched. */
export interface PolledSet
  extends Pick<
    Selectable<WebhookDeliveries>,
    'id' | 'webhookId' | 'developerId' | 'eventType' | 'envelope' | 'actor' | 'txn'
  > {}

/** Leases waiting signals of a polled stream, at most `most`, and of each subject the first. */
export async function claimPolled(
  db: Executor,
  { developerId }: Tenant,
  streamId: string,
  { at, most }: { readonly at: Date; readonly most: number },
): Promise<PolledSet[]> {
  const call = sql<PolledSet>`select * from claim_polled_sets(${developerId}, ${streamId}, ${at}, ${most})`;
  return (await call.execute(db)).rows;
}

/** Locks the endpoint of a stream. */
export async function lockQueue(tx: Tx, { developerId }: Tenant, streamId: string): Promise<void> {
  await tx
    .selectFrom('webhookEndpoints')
    .select('id')
    .where('developerId', '=', developerId)
    .where('id', '=', streamId)
    .forUpdate()
    .execute();
}

/** Whether a poll would find a signal that is not leased. */
export async function hasWaiting(db: Executor, { developerId }: Tenant, streamId: string, at: Date) {
  const asked = sql<{
    isThere: boolean;
  }>`select has_waiting_set(${developerId}, ${streamId}, ${at}) as is_there`;
  return (await asked.execute(db)).rows[0]?.isThere === true;
}

/**
 * Settles signals that the receiver has taken or refused. An id of no waiting signal of this stream changes nothing.
 * @param lastError null for a signal that was taken
 */
export async function settlePolled(
  tx: Tx,
  { developerId }: Tenant,
  streamId: string,
  ids: readonly string[],
  { at, lastError }: { readonly at: Date; readonly lastError: string | null },
): Promise<void> {
  if (ids.length === 0) return;
  const settled = await tx
    .updateTable('webhookDeliveries')
    .set({ status: lastError === null ? 'delivered' : 'failed', lastError, leasedUntil: null })
    .set({ nextAttemptAt: null, lastAttemptAt: at, url: '', attempts: sql`attempts + 1` })
    .set({ deliveredAt: lastError === null ? at : null })
    .where('developerId', '=', developerId)
    .where('webhookId', '=', streamId)
    .where('id', 'in', ids)
    .where('status', '=', 'pending')
    .returning('id')
    .execute();
  if (settled.length === 0) return;
  const label = lastError === null ? 'delivered' : 'failed';
  await tellAfterCommit(tx, { tallies: settled.map(() => ({ counter: 'webhookAttempts', label })) });
}

/** Drops waiting signals that are too old or too many, the oldest first and at most 1,000. @returns how many */
export async function dropSets(
  db: Executor,
  { developerId }: Tenant,
  streamId: string,
  { before, most }: { readonly before: Date; readonly most: number },
): Promise<number> {
  const call = sql<{
    dropped: number;
  }>`select drop_sets(${developerId}, ${streamId}, ${before}, ${most}) as dropped`;
  const dropped = (await call.execute(db)).rows[0]?.dropped ?? 0;
  const tallies = Array.from(
    { length: dropped },
    () => ({ counter: 'webhookAttempts', label: 'failed' }) as const,
  );
  if (dropped > 0) await tellAfterCommit(db, { tallies });
  return dropped;
}

export type NewSet = Pick<PolledSet, 'id' | 'eventType' | 'envelope' | 'txn'> & {
  readonly eventId: string;
  readonly at: Date;
};

/** A signal about the stream itself. Its subject is the stream, so it waits for no signal of another. */
export async function insertSet(
  tx: Tx,
  { developerId }: Tenant,
  streamId: string,
  set: NewSet,
): Promise<void> {
  const { id, eventId, eventType, envelope, txn, at } = set;
  await sql`insert into webhook_deliveries (developer_id, webhook_id, id, event_id, event_type, envelope, txn, subject,
      max_attempts, is_prompt, created_at, next_attempt_at, seq)
    select e.developer_id, e.id, ${id}, ${eventId}, ${eventType}, ${envelope}, ${txn}, e.id, e.max_attempts, e.is_prompt,
      ${at}, ${at}, h.event_seq
    from webhook_endpoints e join audit_heads h on h.developer_id = e.developer_id
    where e.developer_id = ${developerId} and e.id = ${streamId}`.execute(tx);
  // No recorded event announces it, so the commit itself does: to dispatchers and to receivers that wait.
  await tellAfterCommit(tx, { tallies: [], eventsOf: developerId });
}

/** Sets how many attempts new signals get. The process that started last decides. */
export async function setSetAttemptsAcrossTenants(db: Executor, maxAttempts: number): Promise<void> {
  await db
    .updateTable('webhookEndpoints')
    .set({ maxAttempts })
    .where('maxAttempts', '<>', maxAttempts)
    .where('streamState', 'is not', null)
    .execute();
}

/** Counts the waiting signals, up to `most`. */
export async function countSetsAcrossTenants(db: Executor, most: number): Promise<number> {
  const some = db
    .selectFrom('webhookDeliveries')
    .select('id')
    .where('status', '=', 'pending')
    .where('seq', 'is not', null)
    .limit(most);
  const counted = db.selectFrom(some.as('some')).select((eb) => eb.fn.countAll<string>().as('pending'));
  return Number((await counted.executeTakeFirstOrThrow()).pending);
}
