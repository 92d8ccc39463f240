import { defineFeature } from '../../../feature.ts';
import { tenantErased } from '../../../platform/db/erasure.ts';
import { on } from '../../../platform/hooks.ts';
import { acts } from './manifests.acts.ts';
import { quotas } from './manifests.quotas.ts';
import { eraseManifests } from './manifests.repo.ts';
import { manifestRoutes } from './manifests.routes.ts';
import { tables } from './manifests.tables.ts';

export const manifests = defineFeature({
  name: 'manifests',
  tags: { manifests: 'The tools of connectors, and what each of them demands.' },
  tables,
  acts,
  quotas,
  listens: [on(tenantErased, eraseManifests)],
  open: (house) => ({ routes: (app) => app.register(manifestRoutes, house) }),
});
