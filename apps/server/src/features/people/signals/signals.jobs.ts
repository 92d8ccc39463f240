import type { Job } from '../../../platform/jobs/jobs.ts';
import { checkStreams } from './signals.check.service.ts';
import { type PollDeps, pollStreams } from './signals.poll.service.ts';

const POLL_SECONDS = 10; // so that a stream which is due every 30 s waits for no second round

export function signalPolling(deps: PollDeps): Job {
  return {
    name: 'polling of signals',
    everySeconds: POLL_SECONDS,
    run: (signal) => pollStreams(deps, signal),
  };
}

const CHECK_SECONDS = 60;

export function streamVerification(deps: PollDeps): Job {
  return {
    name: 'verification of streams',
    everySeconds: CHECK_SECONDS,
    run: (signal) => checkStreams(deps, signal),
  };
}
