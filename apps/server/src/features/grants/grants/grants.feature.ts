import { defineFeature } from '../../../feature.ts';
import { tenantErased } from '../../../platform/db/erasure.ts';
import { on } from '../../../platform/hooks.ts';
import { agentRevoked } from '../../accounts/agents/index.ts';
import { accountClosed } from '../../accounts/developers/index.ts';
import { acts, announcements } from './grants.acts.ts';
import { expiryOfGrants } from './grants.jobs.ts';
import { quotas } from './grants.quotas.ts';
import { eraseRenewals } from './grants.renewals.repo.ts';
import { eraseGrants } from './grants.repo.ts';
import { revokeGrantsOfAccount, revokeGrantsOfAgent } from './grants.revoke.service.ts';
import { grantRoutes } from './grants.routes.ts';
import { tables } from './grants.tables.ts';

export const grants = defineFeature({
  name: 'grants',
  tags: { grants: 'The permissions that principals gave to agents.' },
  tables,
  acts: { ...acts, ...announcements },
  quotas,
  listens: [
    on(agentRevoked, revokeGrantsOfAgent),
    on(accountClosed, revokeGrantsOfAccount),
    on(tenantErased, eraseRenewals),
    on(tenantErased, eraseGrants),
  ],
  open: (house) => ({
    routes: (app) => app.register(grantRoutes, house),
    jobs: [expiryOfGrants(house)],
  }),
});
