import { defineFeature } from '../../../feature.ts';
import { tenantErased } from '../../../platform/db/personal-data.ts';
import type { TableUse } from '../../../platform/db/tables.ts';
import { on } from '../../../platform/hooks.ts';
import type { Job } from '../../../platform/jobs/jobs.ts';
import { createUsageBuffer, deleteOldUsage, type UsageBuffer, type UsageDeps } from './read.ts';
import { eraseUsage } from './usage.repo.ts';
import { usageRoutes } from './usage.routes.ts';

const tables: TableUse = {
  owns: { usage_daily: { most: 400 } },
  reads: [],
  writes: [],
};

/** The most that a crash loses: the counts of this time and of one write. */
const FLUSH_SECONDS = 1;

const flushOfUsage = (buffer: UsageBuffer): Job => ({
  name: 'flush of usage',
  everySeconds: FLUSH_SECONDS,
  run: () => buffer.flush(),
});

const retentionOfUsage = (deps: Pick<UsageDeps, 'db' | 'clock'>): Job => ({
  name: 'retention of usage',
  everySeconds: 86_400,
  run: (signal) => deleteOldUsage(deps, signal),
});

export const usage = defineFeature({
  name: 'usage',
  tags: { usage: 'The requests that are counted for plans, by day.' },
  tables,
  listens: [on(tenantErased, eraseUsage)],
  open(context) {
    const buffer = createUsageBuffer(context);
    return {
      routes: (app) => usageRoutes(app, { ...context, buffer }),
      countUse: buffer.count,
      jobs: [flushOfUsage(buffer), retentionOfUsage(context)],
      finish: () => buffer.flush(),
    };
  },
});
