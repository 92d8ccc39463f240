import { type Insertable, sql } from 'kysely';
import type { Tenant } from '../../../platform/caller.ts';
import { tellAfterCommit } from '../../../platform/db/commit-effects.ts';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import { readPage } from '../../../platform/db/page-rows.ts';
import type { WebhookDeliveries } from '../../../platform/db/types.gen.ts';
import type { PagePosition } from '../../../platform/paging.ts';
import type { AfterAttempt } from './webhooks.rules.ts';
import type { DeliveryQuery } from './webhooks.schema.ts';

type NewRow = Omit<Insertable<WebhookDeliveries>, 'developerId'>;

export async function insertDelivery(tx: Tx, { developerId }: Tenant, delivery: NewRow): Promise<void> {
  await tx
    .insertInto('webhookDeliveries')
    .values({ ...delivery, developerId })
    .execute();
}

type Filter = Pick<DeliveryQuery, 'status' | 'eventType'>;

/** Joins the endpoint, whose URL counts until the delivery stores a URL of its own. */
const deliveries = (
  db: Executor,
  developerId: string,
  webhookId: string,
  { status, eventType }: Filter = {},
) =>
  db
    .selectFrom('webhookDeliveries as d')
    .innerJoin('webhookEndpoints as e', (join) =>
      join.onRef('e.developerId', '=', 'd.developerId').onRef('e.id', '=', 'd.webhookId'),
    )
    .where('d.developerId', '=', developerId)
    .where('d.webhookId', '=', webhookId)
    .$if(status !== undefined, (all) => all.where('d.status', '=', status ?? 'pending'))
    .$if(eventType !== undefined, (all) => all.where('d.eventType', '=', eventType ?? ''));

/** The columns that an answer shows. The envelope, which may be large, is none of them. */
const SHOWN = [
  'd.id',
  'd.webhookId',
  'd.eventId',
  'd.eventType',
  'd.status',
  'd.attempts',
  'd.maxAttempts',
  'd.lastError',
  'd.lastStatusCode',
  'd.createdAt',
  'd.lastAttemptAt',
  'd.nextAttemptAt',
  'd.deliveredAt',
] as const;

/** Newest first. */
export function listDeliveryRows(
  db: Executor,
  { developerId }: Tenant,
  webhookId: string,
  filter: Filter,
  { pageSize, offset, cursor }: PagePosition,
) {
  const all = deliveries(db, developerId, webhookId, filter)
    .select(SHOWN)
    .select((eb) => eb.fn.coalesce('d.url', 'e.url').as('url'));
  const page = cursor ? all.where('d.id', '<', cursor) : all;
  return readPage(db, page.orderBy('d.id', 'desc').offset(offset), pageSize);
}

export type DeliveryRow = Awaited<ReturnType<typeof listDeliveryRows>>['rows'][number];

export async function countDeliveries(
  db: Executor,
  { developerId }: Tenant,
  webhookId: string,
  filter: Filter,
) {
  const counted = deliveries(db, developerId, webhookId, filter).select((eb) =>
    eb.fn.countAll<string>().as('total'),
  );
  return Number((await counted.executeTakeFirstOrThrow()).total);
}

export function findDelivery(db: Executor, { developerId }: Tenant, webhookId: string, id: string) {
  return deliveries(db, developerId, webhookId)
    .select(['d.eventId', 'd.eventType', 'd.envelope'])
    .where('d.id', '=', id)
    .executeTakeFirst();
}

/** The whole record of a delivery, with the form in which its webhook gets events now. */
export function readDelivery(db: Executor, { developerId }: Tenant, webhookId: string, id: string) {
  return deliveries(db, developerId, webhookId)
    .select(SHOWN)
    .select(['d.envelope', 'd.attemptLog', 'e.format'])
    .select((eb) => eb.fn.coalesce('d.url', 'e.url').as('url'))
    .where('d.id', '=', id)
    .executeTakeFirst();
}

/** An attempt as the column has it. */
export interface LoggedAttempt {
  readonly n: number;
  readonly at: string;
  readonly statusCode: number | null;
  readonly error: string | null;
  readonly durationMs: number | null;
}

export interface FailedRange {
  /** The id before the first, and the one after the last. */
  readonly after: string;
  readonly before: string;
  readonly most: number;
}

/** Makes failed deliveries wait again, the oldest first. @returns how many, and the id of the last */
export async function requeueFailed(
  tx: Tx,
  { developerId }: Tenant,
  webhookId: string,
  { after, before, most }: FailedRange,
  at: Date,
): Promise<{ readonly requeued: number; readonly lastId: string | null }> {
  const call = sql<{ requeued: string; lastId: string | null }>`select * from requeue_failed_deliveries(
    ${developerId}, ${webhookId}, ${after}, ${before}, ${at}, ${most})`;
  const [done] = (await call.execute(tx)).rows;
  return { requeued: Number(done?.requeued ?? 0), lastId: done?.lastId ?? null };
}

/**
 * Fails the deliveries that are being sent and a limited number of the others; later claims fail the rest. A
 * process that is sending such a delivery finds the lease gone, and stores no outcome.
 */
export async function failPending(tx: Tx, { developerId }: Tenant, webhookId: string, url: string) {
  await sql`select fail_webhook_deliveries(${developerId}, ${webhookId}, lane, ${url})
    from unnest(array[true, false]) as lane`.execute(tx);
}

/** A delivery whose lease the caller holds. */
export interface ClaimedDelivery {
  readonly developerId: string;
  readonly webhookId: string;
  readonly id: string;
  readonly eventId: string;
  readonly eventType: string;
  readonly envelope: string;
  readonly attempts: number;
  readonly maxAttempts: number;
  readonly leasedUntil: Date;
  readonly url: string;
  readonly format: 'envelope' | 'ocsf';
  readonly secret: Buffer;
  readonly previousSecret: Buffer | null;
  readonly previousSecretExpiresAt: Date | null;
  /** Whether a signal is made of the event, for a stream. The rest is of use for signals alone. */
  readonly isSet: boolean;
  /** The actor of the act, as the audit log names it. Null for signals about the stream itself. */
  readonly actor: string | null;
  readonly txn: string | null;
}

export interface DueSearch {
  /** True for the lane of endpoints whose last attempt was prompt, false for the slow lane. */
  readonly isPrompt: boolean;
  /** The developer that had the last turn. */
  readonly after: string;
  readonly except: readonly string[];
  readonly most: number;
}

/** Lists developers of which something can be sent, in the order of their turns. */
export async function listDueDevelopersAcrossTenants(
  db: Executor,
  at: Date,
  { isPrompt, after, except, most }: DueSearch,
): Promise<string[]> {
  const call = sql<{ developerId: string }>`select due as developer_id from due_webhook_developers(
    ${at}, ${isPrompt}, ${except}, ${after}, ${most}) as due`;
  return (await call.execute(db)).rows.map(({ developerId }) => developerId);
}

export interface Share {
  readonly developerId: string;
  /** The endpoint of this developer that had the last turn. */
  readonly after: string;
  readonly places: number;
}

const LEASE = '60 seconds'; // longer than any attempt

/** Leases due deliveries to the caller: for each developer as many as its share has places, or fewer. */
export async function claimSharesAcrossTenants(
  db: Executor,
  at: Date,
  isPrompt: boolean,
  shares: readonly Share[],
): Promise<ClaimedDelivery[]> {
  const call = sql<ClaimedDelivery>`select * from claim_delivery_shares(${at}, ${LEASE}::interval, ${isPrompt},
    ${shares.map(({ developerId }) => developerId)}, ${shares.map(({ after }) => after)},
    ${shares.map(({ places }) => places)})`;
  return (await call.execute(db)).rows;
}

/** Moves an endpoint to the slow lane, with deliveries that wait for it. */
export async function slowEndpoint(
  db: Executor,
  { developerId, webhookId }: Pick<ClaimedDelivery, 'developerId' | 'webhookId'>,
): Promise<void> {
  await sql`select slow_webhook(${developerId}, ${webhookId})`.execute(db);
}

/** Stores the outcome of an attempt and counts the attempt, unless the lease was lost meanwhile. */
export async function settleDelivery(
  db: Executor,
  { developerId, webhookId, id, leasedUntil, url }: ClaimedDelivery,
  at: Date,
  { status, nextAttemptAt, lastError, lastStatusCode, isPrompt }: AfterAttempt,
  { beganAt, durationMs }: { readonly beganAt: Date; readonly durationMs: number },
): Promise<void> {
  const call = sql`select * from settle_webhook_delivery(${developerId}, ${webhookId}, ${id}, ${leasedUntil}, ${at},
    ${status}, ${nextAttemptAt}, ${lastError}, ${lastStatusCode}, ${url}, ${isPrompt}, ${beganAt}, ${durationMs})`;
  const [settled] = (await call.execute(db)).rows;
  const label = status === 'pending' ? 'retried' : status;
  if (settled) await tellAfterCommit(db, { tallies: [{ counter: 'webhookAttempts', label }] });
}

/** Ends the lease of a delivery that was claimed and not attempted. */
export async function releaseDelivery(
  db: Executor,
  { developerId, webhookId, id, leasedUntil }: ClaimedDelivery,
): Promise<void> {
  await db
    .updateTable('webhookDeliveries')
    .set({ leasedUntil: null })
    .where('developerId', '=', developerId)
    .where('webhookId', '=', webhookId)
    .where('id', '=', id)
    .where('leasedUntil', '=', leasedUntil)
    .execute();
}

/** Counts the waiting deliveries, up to `most`. */
export async function countPendingAcrossTenants(db: Executor, most: number): Promise<number> {
  const some = db.selectFrom('webhookDeliveries').select('id').where('status', '=', 'pending').limit(most);
  const counted = db.selectFrom(some.as('some')).select((eb) => eb.fn.countAll<string>().as('pending'));
  return Number((await counted.executeTakeFirstOrThrow()).pending);
}

/** Skips the rows that another instance is deleting. @returns the number of deleted rows, at most `limit` */
export async function deleteOldAcrossTenants(db: Executor, before: Date, limit: number): Promise<number> {
  const { numDeletedRows } = await db
    .deleteFrom('webhookDeliveries')
    .where(({ eb, refTuple, selectFrom }) =>
      eb(
        refTuple('developerId', 'webhookId', 'id'),
        'in',
        selectFrom('webhookDeliveries')
          .select(['developerId', 'webhookId', 'id'])
          .where('createdAt', '<', before)
          .orderBy('createdAt')
          .limit(limit)
          .forUpdate()
          .skipLocked()
          .$asTuple('developerId', 'webhookId', 'id'),
      ),
    )
    .executeTakeFirst();
  return Number(numDeletedRows);
}
