import type { Job } from '../../../platform/jobs/jobs.ts';
import { announceExpiredGrants, type GrantExpiryDeps } from './expire.ts';

const EVERY_SECONDS = 30;

/** Announces expired grants. */
export function expiryOfGrants(deps: GrantExpiryDeps): Job {
  return {
    name: 'expiry of grants',
    everySeconds: EVERY_SECONDS,
    async run(signal) {
      while (!signal.aborted && (await announceExpiredGrants(deps)) > 0);
    },
  };
}
