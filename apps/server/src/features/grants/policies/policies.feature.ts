import { defineFeature } from '../../../feature.ts';
import { tenantErased } from '../../../platform/db/erasure.ts';
import { personTold } from '../../../platform/db/personal-records.ts';
import { on } from '../../../platform/hooks.ts';
import { acts, entries } from './policies.acts.ts';
import { outsidePoint } from './policies.outside.service.ts';
import { quotas } from './policies.quotas.ts';
import { rates } from './policies.rates.ts';
import { erasePolicies, tellPolicies } from './policies.repo.ts';
import { policyRoutes } from './policies.routes.ts';
import { policySettings } from './policies.settings.ts';
import { tables } from './policies.tables.ts';

export const policies = defineFeature({
  name: 'policies',
  tags: { policies: 'Standing rules that deny or allow grants before a person is asked.' },
  tables,
  acts: { ...acts, ...entries },
  attempts: ['authorization.blocked', 'policy.denied'],
  rates,
  quotas,
  metrics: {
    policy_decisions_total: {
      kind: 'counter',
      labels: ['operation', 'effect', 'backend'],
      help: 'Decisions of policies, for developers who have any.',
    },
  },
  listens: [on(tenantErased, erasePolicies), on(personTold, tellPolicies)],
  settings: policySettings,
  checkSettings({ POLICY_BACKEND: backend, OPA_URL, CEDAR_URL }, refuse) {
    if (backend === 'opa' && !OPA_URL) refuse('OPA_URL', 'POLICY_BACKEND=opa requires OPA_URL');
    if (backend === 'cedar' && !CEDAR_URL) refuse('CEDAR_URL', 'POLICY_BACKEND=cedar requires CEDAR_URL');
  },
  open: (house, settings) => ({
    routes: (app) => app.register(policyRoutes, { ...house, outside: outsidePoint(house, settings) }),
  }),
});
