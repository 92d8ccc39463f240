import { defineFeature } from '../../../feature.ts';
import { tenantErased } from '../../../platform/db/erasure.ts';
import { on } from '../../../platform/hooks.ts';
import { ssoEgress, ssoSettings } from '../../people/sso/index.ts';
import { acts } from './workloads.acts.ts';
import { eraseWorkloads } from './workloads.repo.ts';
import { workloadRoutes } from './workloads.routes.ts';
import { tables } from './workloads.tables.ts';

export const workloads = defineFeature({
  name: 'workloads',
  tags: { workloads: 'Platforms on which agents run, and by whose JWTs they authenticate.' },
  tables,
  acts,
  settings: ssoSettings,
  listens: [on(tenantErased, eraseWorkloads)],
  open: (house, settings) => ({
    routes: (app) => app.register(workloadRoutes, { ...house, upstream: ssoEgress(house, settings) }),
  }),
});
