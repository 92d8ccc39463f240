import type { TableUse } from '../../../platform/db/tables.ts';

export const tables = {
  owns: {
    sso_connections: { quota: 'sso_connections', kib: 400 },
    sso_connection_domains: { of: 'sso_connections', each: 50 },
    sso_identities: { rate: 'ssoCallback' },
    sso_sessions: { rate: 'ssoCallback', kept: 'until they expire' },
    sso_assertions: { rate: 'ssoCallback', kept: 'until they expire' },
  },
  reads: [],
  writes: [],
} as const satisfies TableUse;
