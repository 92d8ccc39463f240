import type { Job } from '../../../platform/jobs/jobs.ts';
import { type ExpiryDeps, expireDueRequests } from './authorization.expire.service.ts';

const EVERY_SECONDS = 30;

/** Ends what nobody decided, and what nobody fetched, in time. */
export function expiryOfRequests(deps: ExpiryDeps): Job {
  return {
    name: 'expiry of requests',
    everySeconds: EVERY_SECONDS,
    async run(signal) {
      while (!signal.aborted && (await expireDueRequests(deps)) > 0);
    },
  };
}
