import { systemCaller, type Tenant } from '../../../platform/caller.ts';
import { ensureState, leaveLease, listUnsettledAcrossTenants, takeLease } from './anomalies.repo.ts';
import { beforeAllWindows, earlier } from './count.ts';
import { type DetectDeps, detect } from './detect.ts';

export interface PeriodicDeps extends DetectDeps {
  readonly onFailure: (error: unknown) => void;
  /** Developers in one read. */
  readonly batch?: number;
}

const BATCH = 100;
const LEASE = 600; // seconds; a run of a developer that takes longer may meet another, which only costs time

/** Detects for every developer whose chain has grown or has entries in a window. One failure stops no other. */
export async function runDetection(deps: PeriodicDeps, signal: AbortSignal): Promise<void> {
  const { db, batch = BATCH } = deps;
  let after = '';
  while (!signal.aborted) {
    const due = await listUnsettledAcrossTenants(db, after, batch);
    for (const account of due) {
      if (signal.aborted) return;
      const caller = systemCaller({ developerId: account.developerId }, account, 'anomalies');
      await underLease(deps, caller.tenant, () => detect(deps, caller, signal)).catch(deps.onFailure);
    }
    after = due.at(-1)?.developerId ?? after;
    if (due.length < batch) return;
  }
}

async function underLease(
  { db, clock }: PeriodicDeps,
  tenant: Tenant,
  work: () => Promise<unknown>,
): Promise<void> {
  const at = clock();
  await ensureState(db, tenant, beforeAllWindows(at));
  const until = earlier(at, -LEASE);
  if (!(await takeLease(db, tenant, at, until))) return;
  try {
    await work();
  } finally {
    await leaveLease(db, tenant, until);
  }
}
