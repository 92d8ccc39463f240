import { defineFeature } from '../../../feature.ts';
import { act, announcement, type DataOf } from '../../../platform/acts.ts';
import { personExported, tenantErased } from '../../../platform/db/personal-data.ts';
import type { TableUse } from '../../../platform/db/tables.ts';
import { on } from '../../../platform/hooks.ts';
import { presentationRates } from './present.ts';
import { legacyClaims, legacySettings } from './sign.ts';
import { eraseCredentials, tellStatements } from './verifiable-credentials.repo.ts';
import { credentialRoutes, rates, statusRoutes } from './verifiable-credentials.routes.ts';

const tables: TableUse = {
  owns: {
    status_lists: { of: 'verifiable_credentials', kib: 20 },
    verifiable_credentials: { rate: 'plan', kib: 16 },
  },
  reads: ['agents', 'developers', 'passports'], // a verification reads how the agent is judged
  writes: [],
};

interface OfCredential {
  readonly credentialId: string;
}

const acts = {
  'vc.issued': act<OfCredential>(),
  'vc.revoked': act<OfCredential>(),
  'sd-jwt.issued': act<OfCredential>(),
  'passport.issued': act<OfCredential>(),
  'passport.revoked': act<OfCredential>(),
};

const announcements = {
  'sd-jwt.presented': announcement<OfCredential>(),
};

declare module '../../../platform/acts.ts' {
  interface Acts extends DataOf<typeof acts> {}
  interface Announcements extends DataOf<typeof announcements> {}
}

export const verifiableCredentials = defineFeature({
  name: 'verifiable-credentials',
  tags: {
    verifiableCredentials: 'Statements about grants that anybody can verify, and the lists that revoke them.',
  },
  tables,
  acts: { ...acts, ...announcements },
  rates: { ...rates, ...presentationRates },
  listens: [on(tenantErased, eraseCredentials), on(personExported, tellStatements)],
  settings: legacySettings,
  open(context, settings) {
    const issuesLegacyClaims = context.provide(legacyClaims, settings.GRANT_TOKEN_LEGACY_CLAIMS);
    const deps = { ...context, issuesLegacyClaims };
    return {
      routes: async (app) => {
        await credentialRoutes(app, deps);
        await statusRoutes(app, deps);
      },
    };
  },
});
