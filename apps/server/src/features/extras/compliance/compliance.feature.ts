import { defineFeature } from '../../../feature.ts';
import { tenantErased } from '../../../platform/db/erasure.ts';
import { personTold } from '../../../platform/db/personal-records.ts';
import { on } from '../../../platform/hooks.ts';
import { accountClosed } from '../../accounts/developers/index.ts';
import { acts, entries } from './compliance.acts.ts';
import { eraseHolds, tellHolds } from './compliance.holds.repo.ts';
import { holdRoutes } from './compliance.holds.routes.ts';
import { refuseHeld } from './compliance.holds.service.ts';
import { rates } from './compliance.rates.ts';
import { complianceRoutes } from './compliance.routes.ts';
import { settings } from './compliance.settings.ts';
import { tables } from './compliance.tables.ts';

export const compliance = defineFeature({
  name: 'compliance',
  tags: { compliance: 'Exports and evidence for auditors.' },
  tables,
  acts: { ...acts, ...entries },
  rates,
  settings,
  listens: [on(accountClosed, refuseHeld), on(tenantErased, eraseHolds), on(personTold, tellHolds)],
  open: (house, settings) => ({
    async routes(app) {
      const tellers = house.listenersOf(personTold);
      await app.register(complianceRoutes, { ...house, tellers, maxRows: settings.COMPLIANCE_MAX_ROWS });
      await app.register(holdRoutes, house);
    },
  }),
});
