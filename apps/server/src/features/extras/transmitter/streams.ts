import type { Caller } from '../../../platform/caller.ts';
import type { Clock } from '../../../platform/clock.ts';
import { type Executor, inTransaction, type Tx } from '../../../platform/db/db.ts';
import { acceptUrl, type UrlRules } from '../../../platform/egress/urls.ts';
import { AppError, badField, notFound } from '../../../platform/errors.ts';
import { newId } from '../../../platform/ids.ts';
import { recordActs } from '../../record/audit/index.ts';
import {
  changeQueue,
  closeQueue,
  openQueue,
  type Queue,
  type WebhookSeals,
} from '../../record/webhooks/index.ts';
import { deliveredOf, typesOf } from './events.rules.ts';
import { findReceiver, lockReceiver, type ReceiverRow } from './receivers.repo.ts';
import {
  deleteStreamRow,
  findStream,
  insertStream,
  listStreamRows,
  type QueuedStream,
  updateStream,
} from './streams.repo.ts';
import { configurationOf, methodOf, mismatchIn, STATES } from './streams.rules.ts';
import type { NewStream, StreamChange, StreamConfiguration } from './transmitter.schema.ts';

export interface StreamDeps {
  readonly db: Executor;
  readonly clock: Clock;
  readonly issuer: string;
  readonly publicBaseUrl: string;
  readonly urlRules: UrlRules;
  readonly seals: WebhookSeals;
  readonly maxAttempts: number;
}

/** The receiver that shows a token, as caller. */
export interface Receiving {
  readonly caller: Caller;
  readonly receiverId: string;
}

const MAX_STREAMS = 5;
const MAX_DESCRIPTION = 200; // characters

type Delivery = Pick<Queue, 'url'> & {
  readonly method: 'push' | 'poll';
  readonly header: string | undefined;
};

/** A stream without a delivery is polled (SSF 1.0 §8.1.1.1). @throws BAD_REQUEST */
function deliveryIn({ urlRules }: StreamDeps, delivery: NewStream['delivery']): Delivery {
  if (delivery === undefined) return { method: 'poll', url: '', header: undefined };
  const method = methodOf(delivery.method);
  if (!method) throw badField('delivery.method', 'not_allowed', 'The metadata list the methods of delivery.');
  if (method === 'poll') return { method, url: '', header: undefined };
  const { endpoint_url: url, authorization_header: header } = delivery;
  if (url === undefined || !acceptUrl(url, urlRules)) {
    const message = 'Send an absolute `https` URL of a public host, without user name, password or fragment.';
    throw badField('delivery.endpoint_url', 'not_allowed', message);
  }
  return { method, url, header };
}

/** @throws BAD_REQUEST, CONFLICT */
export function createStream(
  deps: StreamDeps,
  { caller, receiverId }: Receiving,
  input: NewStream,
): Promise<StreamConfiguration> {
  const { tenant } = caller;
  const { method, url, header = '' } = deliveryIn(deps, input.delivery);
  const at = deps.clock();
  const id = newId('ssfs', at);
  const eventsRequested = input.events_requested ?? null;
  return inTransaction(deps.db, async (tx) => {
    const receiver = await mustLock(tx, caller, receiverId);
    if ((await listStreamRows(tx, tenant, receiverId)).length >= MAX_STREAMS) {
      throw new AppError('CONFLICT', `A receiver has at most ${MAX_STREAMS} streams; delete one first.`);
    }
    await insertStream(tx, tenant, {
      ...{ id, receiverId, eventsRequested, method },
      description: input.description?.slice(0, MAX_DESCRIPTION) ?? null,
      status: 'enabled',
      polledAt: method === 'poll' ? at : null,
      createdAt: at,
      updatedAt: at,
    });
    const types = typesOf(deliveredOf(receiver.events, eventsRequested));
    await openQueue(tx, deps, tenant, id, { url, header, types, state: 'open' }, at);
    const made = await mustFind(tx, caller, receiverId, id);
    const data = { streamId: id, receiverId, method };
    await recordActs(tx, caller, [{ type: 'ssf.stream.created', data }], at);
    return configurationOf(made, receiver, deps);
  });
}

async function mustLock(tx: Tx, { tenant }: Caller, receiverId: string): Promise<ReceiverRow> {
  const receiver = await lockReceiver(tx, tenant, receiverId);
  if (!receiver) throw notFound();
  return receiver;
}

/** @throws NOT_FOUND for a stream of another receiver and for an unknown stream alike */
export async function mustFind(
  db: Executor,
  { tenant }: Caller,
  receiverId: string,
  streamId: string,
): Promise<QueuedStream> {
  const found = await findStream(db, tenant, receiverId, streamId);
  if (!found) throw notFound();
  return found;
}

/** @throws NOT_FOUND */
export async function readStreams(
  deps: StreamDeps,
  { caller, receiverId }: Receiving,
  streamId?: string,
): Promise<StreamConfiguration | StreamConfiguration[]> {
  const receiver = await findReceiver(deps.db, caller.tenant, receiverId);
  if (!receiver) throw notFound();
  if (streamId !== undefined) {
    return configurationOf(await mustFind(deps.db, caller, receiverId, streamId), receiver, deps);
  }
  const rows = await listStreamRows(deps.db, caller.tenant, receiverId);
  return rows.map((row) => configurationOf(row, receiver, deps));
}

/**
 * Changes the members that are sent or, with `replaces`, all that the receiver writes.
 * @throws BAD_REQUEST, also for a member of the service's own that differs, NOT_FOUND
 */
export function changeStream(
  deps: StreamDeps,
  { caller, receiverId }: Receiving,
  change: StreamChange,
  { replaces }: { readonly replaces: boolean },
): Promise<StreamConfiguration> {
  const { tenant } = caller;
  const { stream_id: id } = change;
  const at = deps.clock();
  return inTransaction(deps.db, async (tx) => {
    const receiver = await mustLock(tx, caller, receiverId);
    const before = await mustFind(tx, caller, receiverId, id);
    const current = configurationOf(before, receiver, deps);
    mustAgree(change, current);
    const wanted = wantedBy(change, before, replaces);
    const isDelivered = replaces || change.delivery !== undefined;
    const delivery = isDelivered ? deliveryIn(deps, change.delivery) : undefined;
    await updateStream(tx, tenant, id, {
      ...wanted,
      ...(delivery && methodColumns(delivery, before, at)),
      updatedAt: at,
    });
    const isOff = before.status === 'disabled';
    const types = isOff ? [] : typesOf(deliveredOf(receiver.events, wanted.eventsRequested));
    const queue = { types, ...(delivery && queueOf(delivery, before, replaces)) };
    await changeQueue(tx, deps, tenant, id, queue, at);
    const changed = Object.keys(change).filter((name) => WRITTEN.includes(name));
    const data = { streamId: id, receiverId, changed, status: before.status };
    await recordActs(tx, caller, [{ type: 'ssf.stream.updated', data }], at);
    return configurationOf(await mustFind(tx, caller, receiverId, id), receiver, deps);
  });
}

const WRITTEN = ['events_requested', 'delivery', 'description'];

/** @throws BAD_REQUEST */
function mustAgree(change: StreamChange, current: StreamConfiguration): void {
  const { delivery } = change;
  const isPolledElsewhere =
    delivery !== undefined &&
    methodOf(delivery.method) === 'poll' &&
    delivery.endpoint_url !== undefined &&
    delivery.endpoint_url !== '' &&
    delivery.endpoint_url !== current.delivery.endpoint_url;
  const field = isPolledElsewhere ? 'delivery.endpoint_url' : mismatchIn(change, current);
  if (field !== undefined) {
    throw badField(
      field,
      'not_allowed',
      'The service alone writes this member; send it as it is, or leave it out.',
    );
  }
}

function wantedBy(change: StreamChange, before: QueuedStream, replaces: boolean) {
  const { events_requested: events = null, description = null } = change;
  const keeps = (name: keyof StreamChange) => !replaces && change[name] === undefined;
  return {
    eventsRequested: keeps('events_requested') ? before.eventsRequested : events,
    description: keeps('description') ? before.description : (description?.slice(0, MAX_DESCRIPTION) ?? null),
  };
}

const methodColumns = ({ method }: Delivery, before: QueuedStream, at: Date) => ({
  method,
  polledAt: method === 'push' ? null : before.method === 'poll' ? before.polledAt : at,
});

/**
 * A header stays with its URL, and never goes to another. A change of the delivery or of the status sets the count of failures
 * to zero.
 */
function queueOf({ url, header }: Delivery, before: QueuedStream, replaces: boolean): Partial<Queue> {
  const isKept = header === undefined && url === before.url && !replaces;
  return { url, ...(!isKept && { header: header ?? '', state: STATES[before.status] }) };
}

/** @throws NOT_FOUND */
export function deleteStream(deps: StreamDeps, { caller, receiverId }: Receiving, id: string): Promise<void> {
  const { tenant } = caller;
  const at = deps.clock();
  return inTransaction(deps.db, async (tx) => {
    await mustLock(tx, caller, receiverId);
    await mustFind(tx, caller, receiverId, id);
    await closeQueue(tx, tenant, id);
    await deleteStreamRow(tx, tenant, id);
    const data = { streamId: id, receiverId };
    await recordActs(tx, caller, [{ type: 'ssf.stream.deleted', data }], at);
  });
}
