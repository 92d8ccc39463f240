import type { Job } from '../../../platform/jobs/jobs.ts';
import { type CareDeps, careForStreams } from './transmitter.care.service.ts';

const EVERY_SECONDS = 60;

export function careOfStreams(deps: CareDeps): Job {
  return {
    name: 'care of signal streams',
    everySeconds: EVERY_SECONDS,
    run: (signal) => careForStreams(deps, signal),
  };
}
