import { defineFeature } from '../../../feature.ts';
import { tenantErased } from '../../../platform/db/erasure.ts';
import { on } from '../../../platform/hooks.ts';
import { checkpointsOfChains, checksOfChains } from './audit.jobs.ts';
import { quotas } from './audit.quotas.ts';
import { rates } from './audit.rates.ts';
import { eraseBlockedAttempts } from './audit.repo.ts';
import { auditRoutes } from './audit.routes.ts';
import { tables } from './audit.tables.ts';
import { eraseChecks } from './audit.watch.repo.ts';

export const audit = defineFeature({
  name: 'audit',
  tags: { audit: 'The acts of the service and of agents, as a chain that anybody can check.' },
  tables,
  quotas,
  metrics: {
    audit_chain_broken: {
      kind: 'gauge',
      help: 'Verifications, periodic checks and evidence packs, since the start of this process, that found an audit chain broken.',
    },
  },
  rates,
  listens: [on(tenantErased, eraseBlockedAttempts), on(tenantErased, eraseChecks)],
  open(house) {
    const broken = house.metrics.gauge('audit_chain_broken');
    const onBroken = () => broken.inc();
    const log = house.logger ?? { error() {} };
    return {
      routes: (app) => app.register(auditRoutes, { ...house, onBroken }),
      jobs: [checkpointsOfChains(house), checksOfChains({ ...house, onBroken, log })],
    };
  },
});
