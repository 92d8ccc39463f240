import { defineFeature } from '../../../feature.ts';
import { tenantErased } from '../../../platform/db/erasure.ts';
import { on } from '../../../platform/hooks.ts';
import { acts, announcements } from './verifiable-credentials.acts.ts';
import { rates } from './verifiable-credentials.rates.ts';
import { eraseCredentials } from './verifiable-credentials.repo.ts';
import { credentialRoutes } from './verifiable-credentials.routes.ts';
import { statusRoutes } from './verifiable-credentials.status.routes.ts';
import { tables } from './verifiable-credentials.tables.ts';

export const verifiableCredentials = defineFeature({
  name: 'verifiable-credentials',
  tags: {
    verifiableCredentials: 'Statements about grants that anybody can verify, and the lists that revoke them.',
  },
  knows: ['audit', 'keys'],
  tables,
  acts: { ...acts, ...announcements },
  rates,
  listens: [on(tenantErased, eraseCredentials)],
  open: (house) => ({
    routes: async (app) => {
      await app.register(credentialRoutes, house);
      await app.register(statusRoutes, house);
    },
  }),
});
