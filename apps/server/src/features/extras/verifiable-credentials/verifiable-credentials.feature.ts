import { defineFeature } from '../../../feature.ts';
import { tenantErased } from '../../../platform/db/erasure.ts';
import { personTold } from '../../../platform/db/personal-records.ts';
import { on } from '../../../platform/hooks.ts';
import { acts, announcements } from './verifiable-credentials.acts.ts';
import { rates } from './verifiable-credentials.rates.ts';
import { eraseCredentials, tellStatements } from './verifiable-credentials.repo.ts';
import { credentialRoutes } from './verifiable-credentials.routes.ts';
import { legacySettings } from './verifiable-credentials.settings.ts';
import { statusRoutes } from './verifiable-credentials.status.routes.ts';
import { tables } from './verifiable-credentials.tables.ts';

export const verifiableCredentials = defineFeature({
  name: 'verifiable-credentials',
  tags: {
    verifiableCredentials: 'Statements about grants that anybody can verify, and the lists that revoke them.',
  },
  tables,
  acts: { ...acts, ...announcements },
  rates,
  listens: [on(tenantErased, eraseCredentials), on(personTold, tellStatements)],
  settings: legacySettings,
  open(house, { GRANT_TOKEN_LEGACY_CLAIMS: issuesLegacyClaims }) {
    const deps = { ...house, issuesLegacyClaims };
    return {
      routes: async (app) => {
        await app.register(credentialRoutes, deps);
        await app.register(statusRoutes, deps);
      },
    };
  },
});
