import type { Job } from '../../../platform/jobs/jobs.ts';
import { type CheckpointDeps, signDueCheckpoints } from './checkpoint.ts';
import { type WatchDeps, watchChains } from './watch.ts';

const EVERY_SECONDS = 300;

/** Signs a checkpoint of each chain once in every hour in which the chain has grown. */
export function checkpointsOfChains(deps: CheckpointDeps): Job {
  return {
    name: 'audit checkpoints',
    everySeconds: EVERY_SECONDS,
    run: (signal) => signDueCheckpoints(deps, signal),
  };
}

/** Checks each chain as it grows, and each whole chain once a day. */
export function checksOfChains(deps: WatchDeps): Job {
  return {
    name: 'checks of audit chains',
    everySeconds: EVERY_SECONDS,
    async run(signal) {
      await watchChains(deps, signal);
    },
  };
}
