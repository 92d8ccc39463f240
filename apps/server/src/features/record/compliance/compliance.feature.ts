import { defineFeature } from '../../../feature.ts';
import { acts } from './compliance.acts.ts';
import { rates } from './compliance.rates.ts';
import { complianceRoutes } from './compliance.routes.ts';
import { settings } from './compliance.settings.ts';

export const compliance = defineFeature({
  name: 'compliance',
  tags: { compliance: 'Exports and evidence for auditors.' },
  knows: ['audit', 'events', 'grants', 'keys', 'policies'],
  acts,
  rates,
  settings,
  open: (house, settings) => ({
    routes: (app) => app.register(complianceRoutes, { ...house, maxRows: settings.COMPLIANCE_MAX_ROWS }),
  }),
});
