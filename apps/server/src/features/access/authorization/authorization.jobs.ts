import type { Job } from '../../../platform/jobs/jobs.ts';
import { expireDueRequests, type RequestExpiryDeps } from './authorization.expire.service.ts';

const EVERY_SECONDS = 30;

/** Ends what nobody decided, and what nobody fetched, in time. */
export function expiryOfRequests(deps: RequestExpiryDeps): Job {
  return {
    name: 'expiry of requests',
    everySeconds: EVERY_SECONDS,
    async run(signal) {
      while (!signal.aborted && (await expireDueRequests(deps)) > 0);
    },
  };
}
