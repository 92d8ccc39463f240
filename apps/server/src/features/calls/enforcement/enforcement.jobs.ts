import type { Clock } from '../../../platform/clock.ts';
import type { Executor } from '../../../platform/db/db.ts';
import type { Job } from '../../../platform/jobs/jobs.ts';
import { deleteOldCallsAcrossTenants } from './enforcement.repo.ts';

const EVERY_SECONDS = 3600;
const AT_ONCE = 1000;

interface ForgettingDeps {
  readonly db: Executor;
  readonly clock: Clock;
  readonly callRecordSeconds: number;
}

/** Deletes calls that the meter has forgotten. */
export function forgettingOfCalls({ db, clock, callRecordSeconds }: ForgettingDeps): Job {
  return {
    name: 'forgetting of calls',
    everySeconds: EVERY_SECONDS,
    async run(signal) {
      const before = new Date(clock().getTime() - callRecordSeconds * 1000);
      while (!signal.aborted && (await deleteOldCallsAcrossTenants(db, before, AT_ONCE)) === AT_ONCE);
    },
  };
}
