import { systemCaller, type Tenant } from '../../../platform/caller.ts';
import { inTransaction } from '../../../platform/db/db.ts';
import { findCallerParts } from '../../accounts/developers/developers.queries.ts';
import { recordActs } from '../../record/audit/index.ts';
import { changeQueue, type OnEndpointGone, thinQueue } from '../../record/webhooks/index.ts';
import { deleteOldTokensAcrossTenants } from './receivers.repo.ts';
import { tellOfStream } from './status.ts';
import {
  findStream,
  listFailingAcrossTenants,
  listInactiveAcrossTenants,
  listStreamsAcrossTenants,
  lockReceiverOfStream,
  lockStream,
  updateStream,
} from './streams.repo.ts';
import { KEPT_SECONDS } from './streams.rules.ts';
import type { StreamDeps } from './streams.ts';

export interface CareDeps extends StreamDeps {
  readonly onFailure: (error: unknown) => void;
}

/** The most signals that a stream holds. */
const MAX_HELD = 100_000;
const FAILING_MS = 24 * 3_600_000;
const LEAST_FAILURES = 10;
const BATCH = 100;

type NamedStream = Tenant & { readonly id: string };

/** Pauses streams that nobody receives, and drops what was held for too long. One failure stops no other stream. */
export async function careForStreams(deps: CareDeps, signal: AbortSignal): Promise<void> {
  const now = deps.clock().getTime();
  const failing = { since: new Date(now - FAILING_MS), failures: LEAST_FAILURES, limit: BATCH };
  for (const stream of await listFailingAcrossTenants(deps.db, failing)) {
    await pauseStream(deps, stream, 'delivery_failed', deps.clock()).catch(deps.onFailure);
  }
  const since = new Date(now - KEPT_SECONDS * 1000);
  for (const stream of await listInactiveAcrossTenants(deps.db, since, BATCH)) {
    await pauseStream(deps, stream, 'inactive', deps.clock()).catch(deps.onFailure);
  }
  await thinQueues(deps, signal);
  while (!signal.aborted && (await deleteOldTokensAcrossTenants(deps.db, deps.clock(), BATCH)) === BATCH);
}

async function thinQueues(deps: CareDeps, signal: AbortSignal): Promise<void> {
  const before = new Date(deps.clock().getTime() - KEPT_SECONDS * 1000);
  for (let after: NamedStream = { developerId: '', id: '' }; !signal.aborted; ) {
    const streams = await listStreamsAcrossTenants(deps.db, after, BATCH);
    for (const { developerId, id } of streams) {
      await thinQueue(deps.db, { developerId }, id, { before, most: MAX_HELD }).catch(deps.onFailure);
    }
    const last = streams.at(-1);
    if (!last || streams.length < BATCH) return;
    after = last;
  }
}

/** The news of the pause goes first, and is all that a paused stream sends (SSF 1.0 §8.1.5). */
type Reason = 'delivery_failed' | 'inactive' | 'receiver_gone';

function pauseStream(
  deps: Pick<CareDeps, 'db' | 'seals'>,
  { developerId, id }: NamedStream,
  reason: Reason,
  at: Date,
) {
  const tenant = { developerId };
  return inTransaction(deps.db, async (tx) => {
    const parts = await findCallerParts(tx, tenant);
    const { id: receiverId } = { ...(await lockReceiverOfStream(tx, tenant, id)) };
    if (!parts || !receiverId) return;
    await lockStream(tx, tenant, id);
    const stream = await findStream(tx, tenant, receiverId, id);
    if (stream?.status !== 'enabled' || !isStill(reason, stream, at)) return; // it was heard, or polled, meanwhile
    const caller = systemCaller(tenant, parts, 'care of signal streams');
    await updateStream(tx, tenant, id, { status: 'paused', statusReason: reason, updatedAt: at });
    await changeQueue(tx, deps, tenant, id, { state: 'holding' }, at);
    const told = { status: 'paused', reason };
    await tellOfStream(tx, caller, id, { type: 'ssf.stream_updated', told }, at);
    const data = { streamId: id, receiverId, reason };
    await recordActs(tx, caller, [{ type: 'ssf.stream.paused', data }], at);
  });
}

/** A receiver that answers 410 gets no more, until it says that it listens again. */
export const pauseGone: OnEndpointGone = (deps, { developerId, webhookId }, at) =>
  pauseStream(deps, { developerId, id: webhookId }, 'receiver_gone', at);

function isStill(
  reason: Reason,
  { failures, failingSince, polledAt }: NonNullable<Awaited<ReturnType<typeof findStream>>>,
  at: Date,
): boolean {
  const passed = (since: Date | null, milliseconds: number) =>
    since !== null && at.getTime() - since.getTime() >= milliseconds;
  if (reason === 'receiver_gone') return true;
  if (reason === 'inactive') return passed(polledAt, KEPT_SECONDS * 1000);
  return failures >= LEAST_FAILURES && passed(failingSince, FAILING_MS);
}
