import type { Caller } from '../../../platform/caller.ts';
import { notFound } from '../../../platform/errors.ts';
import { byId, pageOf } from '../../../platform/paging.ts';
import { setDeliveriesOf } from '../../record/webhooks/queues.queries.ts';
import { deliveredOf } from './events.rules.ts';
import { findReceiver } from './receivers.repo.ts';
import { jtiOf } from './set.ts';
import { listStreamRows, type QueuedStream } from './streams.repo.ts';
import { configurationOf } from './streams.rules.ts';
import type { StreamDeps } from './streams.ts';
import type {
  SetDelivery,
  SetDeliveryPage,
  SetDeliveryQuery,
  ShownStream,
  ShownStreams,
} from './transmitter.schema.ts';

/** @throws NOT_FOUND */
export async function listStreams(
  deps: StreamDeps,
  { tenant }: Caller,
  receiverId: string,
): Promise<ShownStreams> {
  const receiver = await findReceiver(deps.db, tenant, receiverId);
  if (!receiver) throw notFound();
  const rows = await listStreamRows(deps.db, tenant, receiverId);
  const urlOf = (row: QueuedStream) => configurationOf(row, receiver, deps).delivery.endpoint_url;
  return { streams: rows.map((row) => toShown(row, urlOf(row), receiver.events)) };
}

function toShown(row: QueuedStream, endpointUrl: string, ceiling: readonly string[]): ShownStream {
  const { id, receiverId, method, status, statusReason, description, failures } = row;
  return {
    ...{ streamId: id, receiverId, method, endpointUrl, status, statusReason, description, failures },
    events: deliveredOf(ceiling, row.eventsRequested),
    failingSince: row.failingSince?.toISOString() ?? null,
    polledAt: row.polledAt?.toISOString() ?? null,
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
  };
}

/** Newest first, over all streams of a receiver. @throws NOT_FOUND */
export async function listSetDeliveries(
  { db }: StreamDeps,
  { tenant }: Caller,
  receiverId: string,
  query: SetDeliveryQuery,
): Promise<SetDeliveryPage> {
  if (!(await findReceiver(db, tenant, receiverId))) throw notFound();
  const streams = await listStreamRows(db, tenant, receiverId);
  const streamIds = streams.map(({ id }) => id);
  const rows = await setDeliveriesOf(db, tenant, streamIds, query);
  const { page, nextCursor } = pageOf(rows, byId, toDelivery);
  return { deliveries: page, nextCursor };
}

function toDelivery(row: Awaited<ReturnType<typeof setDeliveriesOf>>['rows'][number]): SetDelivery {
  const { id, webhookId: streamId, eventId, eventType, status, attempts, maxAttempts } = row;
  const { lastError, lastStatusCode } = row;
  return {
    ...{ id, streamId, jti: jtiOf(id), eventId, eventType, status, attempts, maxAttempts },
    ...{ lastError, lastStatusCode },
    createdAt: row.createdAt.toISOString(),
    lastAttemptAt: row.lastAttemptAt?.toISOString() ?? null,
    nextAttemptAt: row.nextAttemptAt?.toISOString() ?? null,
    deliveredAt: row.deliveredAt?.toISOString() ?? null,
  };
}
