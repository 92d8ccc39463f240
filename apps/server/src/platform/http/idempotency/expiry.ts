import type { Clock } from '../../clock.ts';
import type { Executor } from '../../db/db.ts';
import type { Job } from '../../jobs/jobs.ts';
import { deleteDueAcrossTenants } from './answers.ts';

const EVERY_SECONDS = 300;
/** So that no delete holds many rows, or runs long. */
const BATCH = 500;

/** Deletes answers that nobody can ask for again. Whether one can be asked for does not wait for this. */
export function expiryOfAnswers({ db, clock }: { db: Executor; clock: Clock }): Job {
  return {
    name: 'expiry of answers',
    everySeconds: EVERY_SECONDS,
    async run(signal) {
      while (!signal.aborted && (await deleteDueAcrossTenants(db, clock(), BATCH)) === BATCH);
    },
  };
}
