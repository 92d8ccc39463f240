import { defineFeature } from '../../../feature.ts';
import type { TableUse } from '../../../platform/db/tables.ts';
import { searchRoutes } from './search.routes.ts';

const tables: TableUse = {
  owns: {},
  // A record of each kind, by its key.
  reads: [
    'agents',
    'anomalies',
    'api_keys',
    'approvers',
    'audit_entries',
    'auth_requests',
    'decisions',
    'grants',
    'policies',
    'scim_users',
    'sso_connections',
    'tokens',
    'vault_credentials',
    'webhook_deliveries',
    'webhook_endpoints',
  ],
  writes: [],
};

export const search = defineFeature({
  name: 'search',
  tags: { search: 'Finding any record by its id or name.' },
  tables,
  open: (context) => ({ routes: (app) => searchRoutes(app, context) }),
});
