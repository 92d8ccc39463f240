import type { Job } from '../../../platform/jobs/jobs.ts';
import { type RunDeps, runErasures } from './erasures.run.service.ts';

const EVERY_SECONDS = 60;

/** Erases personal content from audit entries: that of people when developers ask, and all content that is too old. */
export function erasuresOfEntries(deps: RunDeps): Job {
  return {
    name: 'erasure of audit entries',
    everySeconds: EVERY_SECONDS,
    run: (signal) => runErasures(deps, signal),
  };
}
