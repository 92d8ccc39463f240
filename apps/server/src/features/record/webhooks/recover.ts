import type { Caller } from '../../../platform/caller.ts';
import { afterCommit, inTransaction } from '../../../platform/db/db.ts';
import { badField, notFound } from '../../../platform/errors.ts';
import { firstIdAt } from '../../../platform/ids.ts';
import { mustBeSpan } from '../../../platform/paging.ts';
import { requeueFailed } from './deliveries.repo.ts';
import type { DeliveryDeps } from './history.ts';
import { lockEndpoint } from './webhooks.repo.ts';
import type { RecoveredDeliveries, RecoverRequest } from './webhooks.schema.ts';

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
