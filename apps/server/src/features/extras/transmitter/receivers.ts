import type { Caller } from '../../../platform/caller.ts';
import type { Clock } from '../../../platform/clock.ts';
import { type Executor, inTransaction, type Tx } from '../../../platform/db/db.ts';
import { AppError, badField, notFound } from '../../../platform/errors.ts';
import { hashOf, newId, newSecret } from '../../../platform/ids.ts';
import { byId, pageOf } from '../../../platform/paging.ts';
import { isVerifiedBy } from '../../accounts/domains/domains.queries.ts';
import { recordActs } from '../../record/audit/index.ts';
import { changeQueue, closeQueue, type WebhookSeals } from '../../record/webhooks/index.ts';
import { setDeliveriesOf } from '../../record/webhooks/queues.queries.ts';
import { deliveredOf, SUPPORTED, typesOf } from './events.rules.ts';
import {
  countReceivers,
  deleteReceiverRow,
  endTokens,
  findReceiver,
  insertReceiver,
  insertToken,
  listReceiverRows,
  lockReceiver,
  lockReceivers,
  type ReceiverRow,
  updateReceiver,
} from './receivers.repo.ts';
import { jtiOf } from './set.ts';
import { deleteStreamRow, listStreamRows, type QueuedStream } from './streams.repo.ts';
import { configurationOf } from './streams.rules.ts';
import type { StreamDeps } from './streams.ts';
import { SCOPES } from './tokens.ts';
import type {
  CreatedReceiver,
  NewReceiver,
  Receiver,
  ReceiverChange,
  ReceiverPage,
  ReceiverQuery,
  ReceiverRotation,
  ReceiverStream,
  ReceiverStreamList,
  RotatedReceiverSecret,
  SetDelivery,
  SetDeliveryPage,
  SetDeliveryQuery,
} from './transmitter.schema.ts';

export interface ReceiverDeps {
  readonly db: Executor;
  readonly clock: Clock;
  readonly issuer: string;
  readonly seals: WebhookSeals;
}

const MAX_RECEIVERS = 20;
const STATIC_TOKEN_LASTS = 365 * 86_400_000; // milliseconds

/**
 * Two receivers never share an audience: ids of people are unique for one developer only, and a signal of one account must
 * not convince the receiver of another.
 * @throws BAD_REQUEST, CONFLICT
 */
export async function registerReceiver(
  deps: ReceiverDeps,
  caller: Caller,
  { audience: named, events = [...SUPPORTED], ...input }: NewReceiver,
): Promise<CreatedReceiver> {
  mustBeSupported(events);
  const at = deps.clock();
  const id = newId('ssfr', at);
  const audience = named ?? `${deps.issuer}/ssf/receivers/${id}`;
  const clientSecret = newClientSecret();
  const row = { ...input, id, audience, events: [...new Set(events)], secretHash: hashOf(clientSecret) };

  return inTransaction(deps.db, async (tx) => {
    await lockReceivers(tx, caller.tenant);
    if (named !== undefined) await mustBeOwn(tx, caller, named);
    if ((await countReceivers(tx, caller.tenant)) >= MAX_RECEIVERS) {
      throw new AppError('CONFLICT', `An account has at most ${MAX_RECEIVERS} receivers; delete one first.`);
    }
    const made = await insertReceiver(tx, caller.tenant, { ...row, createdAt: at, updatedAt: at });
    if (!made) {
      throw new AppError('CONFLICT', 'A receiver has this audience already.', { field: 'audience' });
    }
    const token = await newStaticToken(tx, made, at);
    const data = { receiverId: id, audience };
    await recordActs(tx, caller, [{ type: 'ssf.receiver.created', data }], at);
    return { ...toReceiver(made, at), clientSecret, ...token };
  });
}

const newClientSecret = () => `bhs_${newSecret()}`;

/** @throws BAD_REQUEST */
function mustBeSupported(events: readonly string[]): void {
  const at = events.findIndex((event) => !SUPPORTED.includes(event));
  if (at < 0) return;
  throw badField(`events.${at}`, 'not_allowed', 'The service sends no such signal.');
}

/** @throws BAD_REQUEST for an audience outside the verified domains of this developer */
async function mustBeOwn(db: Executor, { tenant }: Caller, audience: string): Promise<void> {
  const url = URL.canParse(audience) ? new URL(audience) : undefined;
  const labels = url?.protocol === 'https:' && !url.username && !url.hash ? url.hostname.split('.') : [];
  for (let from = 0; from + 2 <= labels.length; from += 1) {
    if (await isVerifiedBy(db, tenant, labels.slice(from).join('.'))) return;
  }
  throw badField('audience', 'not_allowed', 'Send an https URL on a domain that you have verified.');
}

/** A token for receivers without OAuth, if this one has one. */
async function newStaticToken(
  tx: Tx,
  { developerId, id: receiverId, staticToken }: ReceiverRow,
  at: Date,
): Promise<Pick<CreatedReceiver, 'accessToken' | 'accessTokenExpiresAt'>> {
  if (!staticToken) return {};
  const accessToken = `bh_ssf_${newSecret()}`;
  const expiresAt = new Date(at.getTime() + STATIC_TOKEN_LASTS);
  const row = { hash: hashOf(accessToken), receiverId, scopes: [...SCOPES], isStatic: true, expiresAt };
  await insertToken(tx, { developerId }, row);
  return { accessToken, accessTokenExpiresAt: expiresAt.toISOString() };
}

/** @throws NOT_FOUND for an unknown receiver and for one of another developer alike */
export async function getReceiver(deps: ReceiverDeps, caller: Caller, id: string): Promise<Receiver> {
  const row = await findReceiver(deps.db, caller.tenant, id);
  if (!row) throw notFound();
  return toReceiver(row, deps.clock());
}

export async function listReceivers(
  deps: ReceiverDeps,
  caller: Caller,
  query: ReceiverQuery,
): Promise<ReceiverPage> {
  const rows = await listReceiverRows(deps.db, caller.tenant, query);
  const at = deps.clock();
  const { page, nextCursor } = pageOf(rows, byId, (row) => toReceiver(row, at));
  return { receivers: page, nextCursor };
}

/** A narrower ceiling holds for the streams at once, for signals that are made from then on. @throws NOT_FOUND, BAD_REQUEST */
export function changeReceiver(
  deps: ReceiverDeps,
  caller: Caller,
  id: string,
  change: ReceiverChange,
): Promise<Receiver> {
  const { tenant } = caller;
  if (change.events) mustBeSupported(change.events);
  const at = deps.clock();
  return inTransaction(deps.db, async (tx) => {
    if (!(await lockReceiver(tx, tenant, id))) throw notFound();
    const row = await updateReceiver(tx, tenant, id, { ...change, updatedAt: at });
    const streams = change.events ? await listStreamRows(tx, tenant, id) : [];
    for (const { id: streamId, eventsRequested, status } of streams) {
      const types = status === 'disabled' ? [] : typesOf(deliveredOf(row.events, eventsRequested));
      await changeQueue(tx, deps, tenant, streamId, { types }, at);
    }
    const data = { receiverId: id, changed: Object.keys(change) };
    await recordActs(tx, caller, [{ type: 'ssf.receiver.updated', data }], at);
    return toReceiver(row, at);
  });
}

/** Until the end of the grace period the former secret and the tokens it gave go on. @throws NOT_FOUND */
export function rotateReceiverSecret(
  deps: ReceiverDeps,
  caller: Caller,
  id: string,
  { graceSeconds }: ReceiverRotation,
): Promise<RotatedReceiverSecret> {
  const { tenant } = caller;
  const at = deps.clock();
  const clientSecret = newClientSecret();
  const previousSecretExpiresAt = new Date(at.getTime() + graceSeconds * 1000);
  return inTransaction(deps.db, async (tx) => {
    const receiver = await lockReceiver(tx, tenant, id);
    if (!receiver) throw notFound();
    await endTokens(tx, tenant, id, previousSecretExpiresAt);
    const row = await updateReceiver(tx, tenant, id, {
      secretHash: hashOf(clientSecret),
      previousSecretHash: graceSeconds > 0 ? receiver.secretHash : null,
      previousSecretExpiresAt,
      secretRotatedAt: at,
      updatedAt: at,
    });
    const token = await newStaticToken(tx, row, at);
    const data = { receiverId: id, changed: ['secret'] };
    await recordActs(tx, caller, [{ type: 'ssf.receiver.updated', data }], at);
    return { id, clientSecret, ...token, previousSecretExpiresAt: previousSecretExpiresAt.toISOString() };
  });
}

/** Its streams end with it, and signals that wait are not sent. @throws NOT_FOUND */
export function deleteReceiver(deps: ReceiverDeps, caller: Caller, id: string): Promise<void> {
  const { tenant } = caller;
  const at = deps.clock();
  return inTransaction(deps.db, async (tx) => {
    if (!(await lockReceiver(tx, tenant, id))) throw notFound();
    const streams = await listStreamRows(tx, tenant, id);
    for (const { id: streamId } of streams) {
      await closeQueue(tx, tenant, streamId);
      await deleteStreamRow(tx, tenant, streamId);
    }
    await deleteReceiverRow(tx, tenant, id);
    const ended = streams.map(({ id: streamId }) => ({
      type: 'ssf.stream.deleted' as const,
      data: { streamId, receiverId: id },
    }));
    const deleted = { type: 'ssf.receiver.deleted', data: { receiverId: id } } as const;
    await recordActs(tx, caller, [...ended, deleted], at);
  });
}

function toReceiver(row: ReceiverRow, at: Date): Receiver {
  const { id, name, audience, events, subjectFormat, subjectShape, staticToken } = row;
  const expiresAt = row.previousSecretExpiresAt;
  return {
    ...{ receiverId: id, id, clientId: id },
    ...{ name, audience, events, subjectFormat, subjectShape, staticToken },
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
    secretRotatedAt: row.secretRotatedAt?.toISOString() ?? null,
    previousSecretExpiresAt: expiresAt && expiresAt > at ? expiresAt.toISOString() : null,
  };
}

/** @throws NOT_FOUND */
export async function listStreams(
  deps: StreamDeps,
  { tenant }: Caller,
  receiverId: string,
): Promise<ReceiverStreamList> {
  const receiver = await findReceiver(deps.db, tenant, receiverId);
  if (!receiver) throw notFound();
  const rows = await listStreamRows(deps.db, tenant, receiverId);
  const urlOf = (row: QueuedStream) => configurationOf(row, receiver, deps).delivery.endpoint_url;
  return { streams: rows.map((row) => toShown(row, urlOf(row), receiver.events)) };
}

function toShown(row: QueuedStream, endpointUrl: string, ceiling: readonly string[]): ReceiverStream {
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
