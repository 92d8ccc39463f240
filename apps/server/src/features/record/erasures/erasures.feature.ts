import { defineFeature } from '../../../feature.ts';
import { tenantErased } from '../../../platform/db/erasure.ts';
import { on } from '../../../platform/hooks.ts';
import { acts } from './erasures.acts.ts';
import { erasuresOfEntries } from './erasures.jobs.ts';
import { rates } from './erasures.rates.ts';
import { eraseErasures } from './erasures.repo.ts';
import { erasureRoutes } from './erasures.routes.ts';
import { tables } from './erasures.tables.ts';

export const erasures = defineFeature({
  name: 'erasures',
  tags: {},
  tables,
  acts,
  rates,
  listens: [on(tenantErased, eraseErasures)],
  open(house) {
    const broken = house.metrics.gauge('audit_chain_broken');
    const { logger } = house;
    const onBroken = (developerId: string, firstBrokenAt: string) => {
      logger?.error({ developerId, firstBrokenAt, problem: 'hash_mismatch' }, 'an audit chain is broken');
      broken.inc();
    };
    const onFailure = (error: unknown) => logger?.error({ err: error }, 'an erasure failed');
    return {
      routes: (app) => app.register(erasureRoutes, house),
      jobs: [erasuresOfEntries({ ...house, onBroken, onFailure })],
    };
  },
});
