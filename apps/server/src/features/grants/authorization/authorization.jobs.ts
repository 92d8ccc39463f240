import type { Job } from '../../../platform/jobs/jobs.ts';
import { expireDueRequests, type RequestExpiryDeps } from './expire.ts';

const EVERY_SECONDS = 30;

/** Records requests as expired when no decision, or no exchange of their code, came in time. */
export function expiryOfRequests(deps: RequestExpiryDeps): Job {
  return {
    name: 'expiry of requests',
    everySeconds: EVERY_SECONDS,
    async run(signal) {
      while (!signal.aborted && (await expireDueRequests(deps)) > 0);
    },
  };
}
