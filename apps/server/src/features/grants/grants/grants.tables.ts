import type { TableUse } from '../../../platform/db/tables.ts';

export const tables = {
  owns: {
    grants: { quota: 'authorizations', every: 'month', kib: 16 },
    grant_renewals: { of: 'grants', each: 2 },
  },
  // The acts of a revocation name each grant's agent; a consent is compared with its agent and the settings.
  reads: ['agents', 'auth_requests', 'developers'],
  writes: [],
} as const satisfies TableUse;
