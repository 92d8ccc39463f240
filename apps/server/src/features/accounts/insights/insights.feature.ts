import { defineFeature } from '../../../feature.ts';
import { tenantErased } from '../../../platform/db/personal-data.ts';
import type { TableUse } from '../../../platform/db/tables.ts';
import { on } from '../../../platform/hooks.ts';
import type { Job } from '../../../platform/jobs/jobs.ts';
import { eraseActivity } from './insights.repo.ts';
import { insightRoutes } from './insights.routes.ts';
import { metricOf } from './insights.rules.ts';
import { type ActivityBuffer, createActivityBuffer, deleteOldActivity, type InsightDeps } from './read.ts';

const tables: TableUse = {
  owns: {
    activity_counts: { rate: 'plan', kept: '90 days' },
    activity_starts: { most: 1 },
  },
  reads: [],
  writes: [],
};

/** The most that a crash loses: the counts of this time and of one write. */
const FLUSH_SECONDS = 1;

const flushOfActivity = (buffer: ActivityBuffer): Job => ({
  name: 'flush of activity',
  everySeconds: FLUSH_SECONDS,
  run: () => buffer.flush(),
});

const retentionOfActivity = (deps: Pick<InsightDeps, 'db' | 'clock'>): Job => ({
  name: 'retention of activity',
  everySeconds: 86_400,
  run: (signal) => deleteOldActivity(deps, signal),
});

export const insights = defineFeature({
  name: 'insights',
  tags: { insights: 'What happened in the account, by hour and day.' },
  tables,
  listens: [on(tenantErased, eraseActivity)],
  open(context) {
    const buffer = createActivityBuffer(context);
    context.notices.listen(([developerId], tallies) => {
      if (developerId === undefined) return;
      for (const tally of tallies) {
        const metric = metricOf(tally);
        if (metric) buffer.count({ developerId }, metric);
      }
    });
    return {
      routes: (app) => insightRoutes(app, { ...context, buffer }),
      countUse(tenant, kind) {
        if (kind === 'verifications') buffer.count(tenant, kind);
      },
      jobs: [flushOfActivity(buffer), retentionOfActivity(context)],
      finish: () => buffer.flush(),
    };
  },
});
