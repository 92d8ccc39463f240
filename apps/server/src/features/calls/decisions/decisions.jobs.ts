import type { Job } from '../../../platform/jobs/jobs.ts';
import { BATCH, type CareDeps, careForDue } from './decisions.care.service.ts';
import { type SendDeps, sendNotices } from './decisions.send.service.ts';

const EVERY_SECONDS = 30;

/** Records requests as expired, and reminds people of those that wait. No decision depends on it. */
export function careOfDecisions(deps: CareDeps): Job {
  return {
    name: 'care of decisions',
    everySeconds: EVERY_SECONDS,
    async run(signal) {
      const failed = new Set<string>();
      while (!signal.aborted && (await careForDue(deps, failed)) === BATCH);
    },
  };
}

export function noticesOfDecisions(deps: SendDeps): Job {
  return {
    name: 'notices of decisions',
    everySeconds: EVERY_SECONDS,
    async run(signal) {
      while (!signal.aborted && (await sendNotices(deps)) > 0);
    },
  };
}
