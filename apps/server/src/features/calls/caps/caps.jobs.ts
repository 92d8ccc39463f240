import type { CapsMeter } from '@behest/protocol/enforcement/meter';
import type { Job } from '../../../platform/jobs/jobs.ts';

const EVERY_SECONDS = 3_600;

/** Deletes counters that are empty and calls that can no longer be repeated. */
export function pruningOfCaps(meter: CapsMeter): Job {
  return {
    name: 'pruning of caps',
    everySeconds: EVERY_SECONDS,
    async run(signal) {
      while (!signal.aborted && (await meter.prune()) > 0);
    },
  };
}
