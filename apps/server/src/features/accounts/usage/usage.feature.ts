import { defineFeature } from '../../../feature.ts';
import { tenantErased } from '../../../platform/db/erasure.ts';
import { on } from '../../../platform/hooks.ts';
import { createUsageBuffer } from './usage.buffer.service.ts';
import { flushOfUsage, retentionOfUsage } from './usage.jobs.ts';
import { eraseUsage } from './usage.repo.ts';
import { usageRoutes } from './usage.routes.ts';
import { tables } from './usage.tables.ts';

export const usage = defineFeature({
  name: 'usage',
  tags: { usage: 'The requests that are counted for plans, by day.' },
  tables,
  listens: [on(tenantErased, eraseUsage)],
  open(house) {
    const buffer = createUsageBuffer(house);
    return {
      routes: (app) => app.register(usageRoutes, { ...house, buffer }),
      countUse: buffer.count,
      jobs: [flushOfUsage(buffer), retentionOfUsage(house)],
      finish: () => buffer.flush(),
    };
  },
});
