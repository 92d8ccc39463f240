import { defineFeature } from '../../../feature.ts';
import { personExported, tenantErased } from '../../../platform/db/personal-data.ts';
import type { TableUse } from '../../../platform/db/tables.ts';
import { on } from '../../../platform/hooks.ts';
import { agentEnded } from '../../accounts/agents/index.ts';
import { credentialDisconnected } from '../../vault/credentials/index.ts';
import { offboardDeps } from '../scim/index.ts';
import { eraseOffboardings, noteTold, tellOffboardings } from './offboarding.repo.ts';
import { offboardingRoutes } from './offboarding.routes.ts';
import { keepEndOfAgent } from './statement.ts';

const tables: TableUse = {
  owns: { offboardings: { rate: 'plan', kib: 80 } },
  // Everything that a principal may hold, in one look-up.
  reads: [
    'agents',
    'approvers',
    'audit_entries',
    'auth_requests',
    'connect_sessions',
    'grants',
    'passkeys',
    'principal_addresses',
    'principal_sessions',
    'scim_principals',
    'scim_users',
    'sso_sessions',
    'vault_credentials',
    'verifiable_credentials',
    'webhook_deliveries',
    'webhook_endpoints',
  ],
  writes: [],
};

export const offboarding = defineFeature({
  name: 'offboarding',
  tags: {},
  tables,
  listens: [
    on(agentEnded, keepEndOfAgent),
    on(credentialDisconnected, noteTold),
    on(tenantErased, eraseOffboardings),
    on(personExported, tellOffboardings),
  ],
  open: (context) => ({
    routes: (app) => offboardingRoutes(app, { ...context, ...offboardDeps(context) }),
  }),
});
