import type { Job } from '../../../platform/jobs/jobs.ts';
import { deleteForgotten } from './domains.service.ts';
import { type CheckDeps, checkDomains } from './domains.verify.service.ts';

const EVERY_SECONDS = 3600;

export function checksOfDomains(deps: CheckDeps): Job {
  return {
    name: 'checks of domains',
    everySeconds: EVERY_SECONDS,
    async run(signal) {
      while (!signal.aborted && (await checkDomains(deps)) > 0);
      while (!signal.aborted && (await deleteForgotten(deps)) > 0);
    },
  };
}
