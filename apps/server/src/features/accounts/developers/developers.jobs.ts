import type { Job } from '../../../platform/jobs/jobs.ts';
import { type ErasureDeps, eraseClosedAccounts } from './developers.close.service.ts';

const EVERY_SECONDS = 3600;

/** Erases the rows of accounts that were closed 30 days ago. */
export function erasureOfAccounts(deps: ErasureDeps): Job {
  return {
    name: 'erasure of accounts',
    everySeconds: EVERY_SECONDS,
    run: (signal) => eraseClosedAccounts(deps, signal),
  };
}
