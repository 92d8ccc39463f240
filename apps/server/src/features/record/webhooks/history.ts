import type { Caller } from '../../../platform/caller.ts';
import { afterCommit, inTransaction } from '../../../platform/db/db.ts';
import { badField, notFound } from '../../../platform/errors.ts';
import { firstIdAt, newId } from '../../../platform/ids.ts';
import { byId, mustBeSpan, mustBeWhole, pageOf, positionOf } from '../../../platform/paging.ts';
import { announce } from '../audit/index.ts';
import { bodyOf } from './deliver.ts';
import {
  countDeliveries,
  type DeliveryRow,
  findDelivery,
  insertDelivery,
  type LoggedAttempt,
  listDeliveryRows,
  readDelivery,
  requeueFailed,
} from './deliveries.repo.ts';
import type { WebhookDeps } from './endpoints.ts';
import { findEndpoint, lockEndpoint } from './webhooks.repo.ts';
import { openHeaders } from './webhooks.rules.ts';
import type {
  DeliveryPath,
  DeliveryQuery,
  RecoveredDeliveries,
  RecoverRequest,
  WebhookDelivery,
  WebhookDeliveryDetail,
  WebhookDeliveryPage,
  WebhookTest,
} from './webhooks.schema.ts';

const LONGEST = 30 * 86_400_000; // milliseconds, for which deliveries are kept
const MOST = 10_000;
/** Deliveries in one transaction, for which claims of the same webhook wait. */
const PORTION = 1000;

/**
 * Puts the failed deliveries of a span of time back into the queue. Each is sent under the event id that receivers know, and
 * a delivery that waits again is found by no second call.
 * @throws NOT_FOUND, BAD_REQUEST for a span that is empty or too long
 */
export async function recoverDeliveries(
  deps: DeliveryDeps,
  caller: Caller,
  webhookId: string,
  { since, until }: RecoverRequest,
): Promise<RecoveredDeliveries> {
  const at = deps.clock();
  const [from, to] = [new Date(since), until === undefined ? at : new Date(until)];
  mustBeSpan({ since, until: to.toISOString() });
  if (to.getTime() - from.getTime() > LONGEST) throw badField('since', 'too_small');
  const before = firstIdAt('whd', new Date(to.getTime() + 1));

  let after = firstIdAt('whd', from);
  let requeued = 0;
  let dueAt = new Date(at.getTime() - MOST / PORTION); // a millisecond has room for a portion in its order
  while (requeued < MOST) {
    const done = await inTransaction(deps.db, async (tx) => {
      if (!(await lockEndpoint(tx, caller.tenant, webhookId))) throw notFound();
      const range = { after, before, most: PORTION };
      const portion = await requeueFailed(tx, caller.tenant, webhookId, range, dueAt);
      await afterCommit(tx, deps.wake);
      return portion;
    });
    requeued += done.requeued;
    if (done.lastId === null || done.requeued < PORTION) return { requeued, complete: true };
    after = done.lastId;
    dueAt = new Date(dueAt.getTime() + 1);
  }
  return { requeued, complete: false };
}

export interface DeliveryDeps extends WebhookDeps {
  /** Wakes the dispatcher for a delivery that no recorded event announces. */
  readonly wake: () => void;
}

const PAGE_SIZE = 20;

/** @throws NOT_FOUND, or BAD_REQUEST for a page that the query cannot name */
export async function listDeliveries(
  deps: DeliveryDeps,
  caller: Caller,
  webhookId: string,
  query: DeliveryQuery,
): Promise<WebhookDeliveryPage> {
  const position = positionOf(query, PAGE_SIZE);
  if (!(await findEndpoint(deps.db, caller.tenant, webhookId))) throw notFound();
  const rows = await listDeliveryRows(deps.db, caller.tenant, webhookId, query, position);
  const total = await countDeliveries(deps.db, caller.tenant, webhookId, query);
  const shown = pageOf(rows, byId, toDelivery);
  mustBeWhole(position, shown);
  const { page, pageSize } = position;
  return { deliveries: shown.page, total, page, pageSize, nextCursor: shown.nextCursor };
}

/** A delivery with its attempts, and what is sent, in the form that the webhook has now. @throws NOT_FOUND */
export async function getDelivery(
  deps: DeliveryDeps,
  caller: Caller,
  { id: webhookId, deliveryId }: DeliveryPath,
): Promise<WebhookDeliveryDetail> {
  if (!(await findEndpoint(deps.db, caller.tenant, webhookId))) throw notFound();
  const found = await readDelivery(deps.db, caller.tenant, webhookId, deliveryId);
  if (!found) throw notFound();
  const { eventId, eventType, envelope, format } = found;
  const attemptLog = attemptsIn(found.attemptLog);
  const last = attemptLog.at(-1);
  const at = last && new Date(last.at);
  return {
    ...toDelivery(found),
    attemptLog,
    payload: bodyOf(envelope, format),
    headers: openHeaders({ eventId, eventType, deliveryId, at }),
  };
}

/** @param log as `settle_webhook_delivery` writes it */
const attemptsIn = (log: unknown): LoggedAttempt[] =>
  (log as LoggedAttempt[]).map((each) => ({ ...each, at: new Date(each.at).toISOString() }));

/** Sends the same event once more, under the event id that receivers know already. @throws NOT_FOUND */
export function redeliver(
  deps: DeliveryDeps,
  caller: Caller,
  { id: webhookId, deliveryId }: DeliveryPath,
): Promise<WebhookDelivery> {
  const at = deps.clock();
  return inTransaction(deps.db, async (tx) => {
    const endpoint = await lockEndpoint(tx, caller.tenant, webhookId);
    const found = await findDelivery(tx, caller.tenant, webhookId, deliveryId);
    if (!endpoint || !found) throw notFound();
    const { maxAttempts, url } = endpoint;
    const id = newId('whd', at);
    const times = { createdAt: at, nextAttemptAt: at };
    await insertDelivery(tx, caller.tenant, { id, webhookId, ...found, maxAttempts, ...times });
    await afterCommit(tx, deps.wake);
    const { eventId, eventType } = found;
    const made = {
      id,
      webhookId,
      eventId,
      eventType,
      status: 'pending',
      attempts: 0,
      maxAttempts,
      url,
    } as const;
    return toDelivery({ ...made, ...neverTried, ...times });
  });
}

/** Sends an event to this webhook alone, whatever the webhook subscribes to. @throws NOT_FOUND */
export function sendTest(deps: DeliveryDeps, caller: Caller, webhookId: string): Promise<WebhookTest> {
  const at = deps.clock();
  return inTransaction(deps.db, async (tx) => {
    const endpoint = await lockEndpoint(tx, caller.tenant, webhookId);
    if (!endpoint) throw notFound();
    const event = await announce(tx, caller, { type: 'webhook.test', data: { webhookId } }, at);
    const id = newId('whd', at);
    await insertDelivery(tx, caller.tenant, {
      id,
      webhookId,
      eventId: event.eventId,
      eventType: 'webhook.test',
      envelope: event.envelope,
      maxAttempts: endpoint.maxAttempts,
      createdAt: at,
      nextAttemptAt: at,
    });
    return { eventId: event.eventId, deliveryId: id };
  });
}

const neverTried = { lastError: null, lastStatusCode: null, lastAttemptAt: null, deliveredAt: null };

function toDelivery(row: DeliveryRow): WebhookDelivery {
  const { id, webhookId, eventId, eventType, status, attempts, maxAttempts, url } = row;
  const { lastError, lastStatusCode } = row;
  return {
    id,
    webhookId,
    eventId,
    eventType,
    status,
    attempts,
    maxAttempts,
    url,
    lastError,
    lastStatusCode,
    createdAt: row.createdAt.toISOString(),
    lastAttemptAt: row.lastAttemptAt?.toISOString() ?? null,
    nextAttemptAt: row.nextAttemptAt?.toISOString() ?? null,
    deliveredAt: row.deliveredAt?.toISOString() ?? null,
  };
}
