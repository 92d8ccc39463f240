import { defineFeature } from '../../../feature.ts';
import { tenantErased } from '../../../platform/db/erasure.ts';
import { on } from '../../../platform/hooks.ts';
import { policySettings } from '../../grants/policies/index.ts';
import { acts, entries } from './bundles.acts.ts';
import { quotas } from './bundles.quotas.ts';
import { rates } from './bundles.rates.ts';
import { eraseBundles } from './bundles.repo.ts';
import { bundleRoutes } from './bundles.routes.ts';
import { SEAL_KEY_USE, sealedSyncSecrets } from './bundles.seals.service.ts';
import { tables } from './bundles.tables.ts';

export const bundles = defineFeature({
  name: 'bundles',
  tags: { policyBundles: 'Policies as code for a decision point of the operator.' },
  tables,
  acts: { ...acts, ...entries },
  rates,
  quotas,
  keyUses: [SEAL_KEY_USE],
  listens: [on(tenantErased, eraseBundles)],
  settings: policySettings,
  open: (house, { POLICY_BACKEND }) => ({
    routes: (app) => app.register(bundleRoutes, { ...house, runsCedar: POLICY_BACKEND === 'cedar_bundles' }),
    sealed: [sealedSyncSecrets(house.keyRing)],
  }),
});
