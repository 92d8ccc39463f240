import { boolean } from '../../../config/readers.ts';
import { defaulted } from '../../../config/setting.ts';
import { defineFeature } from '../../../feature.ts';
import { tenantErased } from '../../../platform/db/erasure.ts';
import { on } from '../../../platform/hooks.ts';
import { acts } from './resources.acts.ts';
import { identityOf } from './resources.identity.service.ts';
import { quotas } from './resources.quotas.ts';
import { eraseResources } from './resources.repo.ts';
import { resourceRoutes } from './resources.routes.ts';
import { tables } from './resources.tables.ts';

export const resources = defineFeature({
  name: 'resources',
  tags: { resources: 'The servers that take tokens.' },
  tables,
  acts,
  quotas,
  settings: {
    RESOURCES_ALLOW_UNVERIFIED: defaulted(
      boolean,
      'false',
      'Whether resources may be registered under domains that their developer has not verified, for installations with one developer.',
    ),
  },
  listens: [on(tenantErased, eraseResources)],
  open: (house, settings) => ({
    credentials: { resource: (hash) => identityOf(house, hash) },
    routes: (app) =>
      app.register(resourceRoutes, { ...house, allowsUnverified: settings.RESOURCES_ALLOW_UNVERIFIED }),
  }),
});
