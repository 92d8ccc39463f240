import type { Clock } from '../../clock.ts';
import type { Executor } from '../../db/db.ts';
import type { Job } from '../../jobs/jobs.ts';
import { deleteDueAcrossTenants } from './answers.ts';

const EVERY_SECONDS = 300;
/** Keeps each delete short, with few locked rows. */
const BATCH = 500;

/** Deletes expired answers. The service gives out no expired answer, whether it is deleted or not. */
export function expiryOfAnswers({ db, clock }: { db: Executor; clock: Clock }): Job {
  return {
    name: 'expiry of answers',
    everySeconds: EVERY_SECONDS,
    async run(signal) {
      while (!signal.aborted && (await deleteDueAcrossTenants(db, clock(), BATCH)) === BATCH);
    },
  };
}
