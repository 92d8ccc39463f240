import type { TableUse } from '../../../platform/db/tables.ts';

export const tables = {
  owns: ['sso_connections', 'sso_connection_domains', 'sso_identities', 'sso_sessions', 'sso_assertions'],
  reads: [],
  writes: [],
} as const satisfies TableUse;
