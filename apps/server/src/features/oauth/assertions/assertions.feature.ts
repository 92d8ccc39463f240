import { defineFeature } from '../../../feature.ts';
import { tenantErased } from '../../../platform/db/erasure.ts';
import { on } from '../../../platform/hooks.ts';
import { issuerChanged } from '../../people/sso/index.ts';
import { acts, entries } from './assertions.acts.ts';
import { rates } from './assertions.rates.ts';
import { eraseAssertions } from './assertions.repo.ts';
import { assertionRoutes } from './assertions.routes.ts';
import { assertionSettings } from './assertions.settings.ts';
import { stopRoutes } from './assertions.stops.routes.ts';
import { tables } from './assertions.tables.ts';
import { distrust } from './assertions.trust.service.ts';

export const assertions = defineFeature({
  name: 'assertions',
  tags: { assertions: 'Identity providers that decide for their people, without a consent page.' },
  tables,
  acts: { ...acts, ...entries },
  attempts: ['idjag.refused'],
  rates,
  settings: assertionSettings,
  listens: [on(tenantErased, eraseAssertions), on(issuerChanged, distrust)],
  open: (house) => ({
    async routes(app) {
      await app.register(assertionRoutes, { ...house, ...house.lifetimes });
      await app.register(stopRoutes, house);
    },
  }),
});
