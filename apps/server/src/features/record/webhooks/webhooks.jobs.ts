import type { Job } from '../../../platform/jobs/jobs.ts';
import { deleteOldDeliveries, type SenderDeps } from './deliver.ts';
import type { Dispatcher } from './dispatch.ts';

const POLL_SECONDS = 30; // for deliveries that another process left
const CLEANING_SECONDS = 3600;

/**
 * Finds the deliveries that no commit of this process announces: retries, and those that another process
 * left.
 */
export function webhookDelivery(dispatcher: Dispatcher): Job {
  return { name: 'webhook delivery', everySeconds: POLL_SECONDS, run: () => dispatcher.begin() };
}

export function webhookHistory(deps: Pick<SenderDeps, 'db' | 'clock'>): Job {
  return {
    name: 'webhook history',
    everySeconds: CLEANING_SECONDS,
    run: (signal) => deleteOldDeliveries(deps, signal),
  };
}
