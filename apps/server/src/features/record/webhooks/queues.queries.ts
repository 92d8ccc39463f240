import { type Selectable, sql } from 'kysely';
import type { Tenant } from '../../../platform/caller.ts';
import type { Executor } from '../../../platform/db/db.ts';
import type { PageRows } from '../../../platform/db/page-rows.ts';
import type { WebhookDeliveries } from '../../../platform/db/types.gen.ts';

/** The queues of a developer's streams of signals, to be joined by `queue.streamId`. */
export function queuesOf(db: Executor, { developerId }: Tenant) {
  return db
    .selectFrom('webhookEndpoints')
    .select(['id as streamId', 'url', 'failures', 'failingSince'])
    .where('developerId', '=', developerId)
    .where('streamState', 'is not', null)
    .as('queue');
}

/** Streams that have had no success since `since`, with at least so many attempts. */
export function failingQueuesAcrossTenants(db: Executor, since: Date, failures: number) {
  return db
    .selectFrom('webhookEndpoints')
    .select(['developerId', 'id'])
    .where('streamState', '=', 'open')
    .where('failingSince', '<=', since)
    .where('failures', '>=', failures);
}

type SetDeliveryRow = Pick<
  Selectable<WebhookDeliveries>,
  | 'id'
  | 'webhookId'
  | 'eventId'
  | 'eventType'
  | 'status'
  | 'attempts'
  | 'maxAttempts'
  | 'lastError'
  | 'lastStatusCode'
  | 'createdAt'
  | 'lastAttemptAt'
  | 'nextAttemptAt'
  | 'deliveredAt'
>;

interface SetQuery {
  readonly status?: 'pending' | 'delivered' | 'failed';
  readonly cursor?: string;
  readonly limit: number;
}

/** The deliveries of some streams together, newest first, without the events that they carry. */
export async function setDeliveriesOf(
  db: Executor,
  { developerId }: Tenant,
  streamIds: readonly string[],
  { status, cursor, limit }: SetQuery,
): Promise<PageRows<SetDeliveryRow>> {
  const statuses = status ? [status] : ['pending', 'delivered', 'failed'];
  const newest = sql<SetDeliveryRow>`
    select d.* from unnest(${streamIds}::text[]) as stream (id)
    cross join lateral (
      select d.id, d.webhook_id, d.event_id, d.event_type, d.status, d.attempts, d.max_attempts, d.last_error,
        d.last_status_code, d.created_at, d.last_attempt_at, d.next_attempt_at, d.delivered_at
      from webhook_deliveries d
      where d.developer_id = ${developerId} and d.webhook_id = stream.id
        and d.id < ${cursor ?? 'z'} and d.status = any (${statuses}::webhook_delivery_status[])
      order by d.id desc limit ${limit + 1}) d
    order by d.id desc limit ${limit + 1}`;
  const { rows } = await newest.execute(db);
  return { rows: rows.slice(0, limit), hasMore: rows.length > limit, isSmall: true };
}
