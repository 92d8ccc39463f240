import type { Job } from '../../../platform/jobs/jobs.ts';
import { type EventDeps, endGraces } from './billing.events.service.ts';

export const endOfGraces = (deps: Pick<EventDeps, 'db' | 'clock' | 'publishChange'>): Job => ({
  name: 'end of graces',
  everySeconds: 60,
  async run(signal) {
    while (!signal.aborted && (await endGraces(deps)) > 0);
  },
});
