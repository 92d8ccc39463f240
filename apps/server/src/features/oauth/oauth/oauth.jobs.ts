import type { Clock } from '../../../platform/clock.ts';
import type { Executor } from '../../../platform/db/db.ts';
import type { Job } from '../../../platform/jobs/jobs.ts';
import { deleteUnusedClientsAcrossTenants } from './registration.repo.ts';

const EVERY_SECONDS = 3600;
const AT_ONCE = 1000;

/** Deletes clients that registered themselves and were not used in time. */
export function expiryOfClients({ db, clock }: { readonly db: Executor; readonly clock: Clock }): Job {
  return {
    name: 'expiry of clients',
    everySeconds: EVERY_SECONDS,
    async run(signal) {
      while (!signal.aborted && (await deleteUnusedClientsAcrossTenants(db, clock(), AT_ONCE)) === AT_ONCE);
    },
  };
}
