import type { Caller } from '../../../platform/caller.ts';
import { afterCommit, type Tx } from '../../../platform/db/db.ts';
import type { EphemeralStore } from '../../../platform/redis/ephemeral-store.ts';
import { freeQuota } from '../../accounts/quotas/index.ts';
import { letGo } from './in-flight.ts';

/**
 * Gives the places of ended requests back: those of the plan, and after the commit those in the store. Call it after
 * grants have given their places back: every transaction that needs both counters locks that of grants first.
 */
export async function freeRequests(
  tx: Tx,
  caller: Caller,
  { requestIds, store }: { readonly requestIds: readonly string[]; readonly store: EphemeralStore },
): Promise<void> {
  if (requestIds.length === 0) return;
  await freeQuota(tx, caller, 'open_requests', requestIds.length);
  await afterCommit(tx, () => letGo(store, requestIds));
}
