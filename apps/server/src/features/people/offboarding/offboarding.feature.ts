import { defineFeature } from '../../../feature.ts';
import type { TableUse } from '../../../platform/db/tables.ts';
import { offboardDeps } from '../scim/index.ts';
import { offboardingRoutes } from './offboarding.routes.ts';

const tables: TableUse = {
  owns: {},
  // Everything that a principal may hold, in one look-up.
  reads: [
    'audit_entries',
    'auth_requests',
    'grants',
    'passkeys',
    'principal_addresses',
    'principal_sessions',
    'scim_principals',
    'scim_users',
    'vault_credentials',
  ],
  writes: [],
};

export const offboarding = defineFeature({
  name: 'offboarding',
  tags: {},
  tables,
  open: (context) => ({
    routes: (app) => offboardingRoutes(app, { ...context, ...offboardDeps(context) }),
  }),
});
