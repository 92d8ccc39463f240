import { defineFeature } from '../../../feature.ts';
import { tenantErased } from '../../../platform/db/erasure.ts';
import { personTold } from '../../../platform/db/personal-records.ts';
import { on } from '../../../platform/hooks.ts';
import { agentRevoked } from '../../accounts/agents/index.ts';
import { accountClosed } from '../../accounts/developers/index.ts';
import { acts, entries } from './authorization.acts.ts';
import { countOverdue } from './authorization.expire.service.ts';
import { expiryOfRequests } from './authorization.jobs.ts';
import { quotas } from './authorization.quotas.ts';
import { rates } from './authorization.rates.ts';
import { eraseRequests, tellRequests } from './authorization.repo.ts';
import { cancelRequestsOfAccount, cancelRequestsOfAgent } from './authorization.requests.service.ts';
import { authorizationRoutes } from './authorization.routes.ts';
import { authorizationDeps, authorizationSettings } from './authorization.settings.ts';
import { tables } from './authorization.tables.ts';

export const authorization = defineFeature({
  name: 'authorization',
  tags: { authorization: 'Asking a principal for consent.' },
  tables,
  acts: { ...acts, ...entries },
  attempts: ['authorization.scope_refused'],
  rates,
  quotas,
  metrics: {
    authorization_requests_overdue: {
      kind: 'asked',
      help: 'Authorization requests that have expired and are not recorded as expired yet, up to 1000.',
    },
  },
  settings: authorizationSettings,
  listens: [
    on(agentRevoked, cancelRequestsOfAgent),
    on(accountClosed, cancelRequestsOfAccount),
    on(tenantErased, eraseRequests),
    on(personTold, tellRequests),
  ],
  open(house, settings) {
    house.metrics.ask('authorization_requests_overdue', () => countOverdue(house));
    return {
      routes: (app) => app.register(authorizationRoutes, authorizationDeps(house, settings)),
      jobs: [expiryOfRequests(house)],
    };
  },
});
