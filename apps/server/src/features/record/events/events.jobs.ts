import type { Job } from '../../../platform/jobs/jobs.ts';
import { deleteAgedEvents } from './events.retain.service.ts';
import type { EventsDeps } from './events.service.ts';

const EVERY_SECONDS = 600;

/** Deletes events after their retention. Queries hide them without waiting for this job. */
export function retentionOfEvents(deps: Pick<EventsDeps, 'db' | 'clock'>): Job {
  return {
    name: 'retention of events',
    everySeconds: EVERY_SECONDS,
    run: (signal) => deleteAgedEvents(deps, signal),
  };
}
