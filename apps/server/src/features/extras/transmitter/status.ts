import type { Caller, Tenant } from '../../../platform/caller.ts';
import { inTransaction, type Tx } from '../../../platform/db/db.ts';
import { AppError, badField } from '../../../platform/errors.ts';
import { newId } from '../../../platform/ids.ts';
import { recordActs } from '../../record/audit/index.ts';
import { addSet, changeQueue, emptyQueue } from '../../record/webhooks/index.ts';
import { deliveredOf, typesOf } from './events.rules.ts';
import { lockReceiver } from './receivers.repo.ts';
import { noteVerification, updateStream } from './streams.repo.ts';
import { STATES, statusOf, VERIFICATION_SECONDS } from './streams.rules.ts';
import { mustFind, type Receiving, type StreamDeps } from './streams.ts';
import type { StreamStatus, StreamStatusChange, StreamVerificationRequest } from './transmitter.schema.ts';

/** @throws NOT_FOUND */
export async function readStatus(
  { db }: StreamDeps,
  { caller, receiverId }: Receiving,
  streamId: string,
): Promise<StreamStatus> {
  return statusOf(await mustFind(db, caller, receiverId, streamId));
}

/** A paused stream holds its signals; a disabled one drops them and takes no more. @throws NOT_FOUND */
export function changeStatus(
  deps: StreamDeps,
  { caller, receiverId }: Receiving,
  { stream_id: id, status, reason }: StreamStatusChange,
): Promise<StreamStatus> {
  const { tenant } = caller;
  const at = deps.clock();
  return inTransaction(deps.db, async (tx) => {
    const receiver = await lockReceiver(tx, tenant, receiverId);
    const before = await mustFind(tx, caller, receiverId, id);
    const statusReason = reason ?? null;
    const isPolled = before.method === 'poll';
    await updateStream(tx, tenant, id, {
      ...{ status, statusReason, updatedAt: at },
      ...(isPolled && status === 'enabled' && { polledAt: at }),
    });
    const delivered = deliveredOf(receiver?.events ?? [], before.eventsRequested);
    const types = status === 'disabled' ? [] : typesOf(delivered);
    await changeQueue(tx, deps, tenant, id, { types, state: STATES[status] }, at);
    if (status === 'disabled') await emptyQueue(tx, tenant, id, at);
    const data = { streamId: id, receiverId, changed: ['status'], status };
    await recordActs(tx, caller, [{ type: 'ssf.stream.updated', data }], at);
    return statusOf({ id, status, statusReason });
  });
}

/**
 * Sends a verification signal (SSF 1.0 §8.1.4). A paused stream holds it like every signal.
 * @throws NOT_FOUND, BAD_REQUEST for a disabled stream, RATE_LIMITED
 */
export function requestVerification(
  deps: StreamDeps,
  { caller, receiverId }: Receiving,
  { stream_id: id, state }: StreamVerificationRequest,
): Promise<void> {
  const { tenant } = caller;
  const at = deps.clock();
  const since = new Date(at.getTime() - VERIFICATION_SECONDS * 1000);
  return inTransaction(deps.db, async (tx) => {
    await lockReceiver(tx, tenant, receiverId); // a stream that is disabled meanwhile would hold the signal
    const stream = await mustFind(tx, caller, receiverId, id);
    if (stream.status === 'disabled') throw badField('stream_id', 'not_allowed', 'This stream is disabled.');
    if (!(await noteVerification(tx, tenant, id, { at, since }))) {
      throw new AppError('RATE_LIMITED', 'Ask for a verification of a stream once a minute at most.', {
        retryAfter: VERIFICATION_SECONDS,
      });
    }
    const told = state === undefined ? {} : { state };
    await tellOfStream(tx, caller, id, { type: 'ssf.verification', told }, at);
  });
}

interface News {
  readonly type: 'ssf.verification' | 'ssf.stream_updated';
  readonly told: object;
}

/** Writes a signal about the stream itself. */
export async function tellOfStream(
  tx: Tx,
  {
    tenant,
    mode,
    actor,
    requestId,
  }: Pick<Caller, 'mode' | 'actor' | 'requestId'> & { readonly tenant: Tenant },
  streamId: string,
  { type: eventType, told }: News,
  at: Date,
): Promise<void> {
  const eventId = newId('evt', at);
  const createdAt = at.toISOString();
  const sandbox = mode === 'sandbox' && { sandbox: true };
  const envelope = JSON.stringify({ id: eventId, type: eventType, createdAt, ...sandbox, data: told });
  const txn = actor === 'system' ? eventId : requestId;
  await addSet(tx, tenant, streamId, { id: newId('whd', at), eventId, eventType, envelope, txn, at });
}
