import type { Clock } from '../../../platform/clock.ts';
import type { Executor } from '../../../platform/db/db.ts';
import type { Job } from '../../../platform/jobs/jobs.ts';
import { deleteOldProxyCallsAcrossTenants } from './proxy.calls.repo.ts';

const EVERY_SECONDS = 3600;
const AT_ONCE = 1000;
const KEPT_MS = 30 * 86_400_000;

/** Deletes calls of more than thirty days ago. */
export function forgettingOfProxyCalls({ db, clock }: { readonly db: Executor; readonly clock: Clock }): Job {
  return {
    name: 'forgetting of proxy calls',
    everySeconds: EVERY_SECONDS,
    async run(signal) {
      const before = new Date(clock().getTime() - KEPT_MS);
      while (!signal.aborted && (await deleteOldProxyCallsAcrossTenants(db, before, AT_ONCE)) === AT_ONCE);
    },
  };
}
