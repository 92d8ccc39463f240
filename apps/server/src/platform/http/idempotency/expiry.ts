import type { Clock } from '../../clock.ts';
import type { Executor } from '../../db/db.ts';
import type { Job } from '../../jobs/jobs.ts';
import { deleteDueAcrossTenants } from './answers.ts';

const EVERY_SECONDS = 300;
interface ExpiryDeps {
  readonly db: Executor;
  readonly clock: Clock;
  /** Answers in one delete, so that each delete is short, with few locked rows. */
  readonly batch?: number;
}

/** Deletes expired answers. The service gives out no expired answer, whether it is deleted or not. */
export function expiryOfAnswers({ db, clock, batch = 500 }: ExpiryDeps): Job {
  return {
    name: 'expiry of answers',
    everySeconds: EVERY_SECONDS,
    async run(signal) {
      while (!signal.aborted && (await deleteDueAcrossTenants(db, clock(), batch)) === batch);
    },
  };
}
