import { defineFeature } from '../../../feature.ts';
import { tenantErased } from '../../../platform/db/erasure.ts';
import { on } from '../../../platform/hooks.ts';
import { acts, entries } from './policies.acts.ts';
import { quotas } from './policies.quotas.ts';
import { rates } from './policies.rates.ts';
import { erasePolicies } from './policies.repo.ts';
import { policyRoutes } from './policies.routes.ts';
import { tables } from './policies.tables.ts';

export const policies = defineFeature({
  name: 'policies',
  tags: { policies: 'Standing rules that deny or allow grants before a person is asked.' },
  knows: ['audit', 'quotas'],
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
  listens: [on(tenantErased, erasePolicies)],
  open: (house) => ({ routes: (app) => app.register(policyRoutes, house) }),
});
