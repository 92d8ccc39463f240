import type { Job } from '../../../platform/jobs/jobs.ts';
import type { UsageBuffer } from './usage.buffer.service.ts';
import { deleteOldUsage, type UsageDeps } from './usage.service.ts';

/** The most that a crash loses: the counts of this time and of one write. */
const FLUSH_SECONDS = 1;

export const flushOfUsage = (buffer: UsageBuffer): Job => ({
  name: 'flush of usage',
  everySeconds: FLUSH_SECONDS,
  run: () => buffer.flush(),
});

export const retentionOfUsage = (deps: Pick<UsageDeps, 'db' | 'clock'>): Job => ({
  name: 'retention of usage',
  everySeconds: 86_400,
  run: (signal) => deleteOldUsage(deps, signal),
});
