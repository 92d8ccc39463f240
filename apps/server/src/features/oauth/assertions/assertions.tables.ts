import type { TableUse } from '../../../platform/db/tables.ts';

export const tables = {
  owns: {
    assertion_trusts: { of: 'sso_connections' },
    assertion_clients: { rate: 'ssoClientWrite', kib: 64 },
    assertion_grants: { rate: 'oauthToken', kib: 16 },
    assertion_uses: { rate: 'oauthToken', kept: 'until they expire' },
  },
  reads: [],
  writes: [],
} as const satisfies TableUse;
