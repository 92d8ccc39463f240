import type { Job } from '../../../platform/jobs/jobs.ts';
import { deleteAgedEvents, type RetainDeps } from './events.retain.service.ts';

const EVERY_SECONDS = 600;

/** Deletes events after their retention. Queries hide them without waiting for this job. */
export function retentionOfEvents(deps: RetainDeps): Job {
  return {
    name: 'retention of events',
    everySeconds: EVERY_SECONDS,
    run: (signal) => deleteAgedEvents(deps, signal),
  };
}
