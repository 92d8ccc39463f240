import type { TableUse } from '../../../platform/db/tables.ts';

export const tables = {
  owns: {
    vault_proxy_profiles: { quota: 'proxy_profiles', kib: 64 },
    vault_proxy_calls: { rate: 'vaultProxy', kept: '30 days' },
  },
  // A call checks them in the statement that records it.
  reads: ['tokens', 'grants', 'agents', 'developers', 'vault_credentials'],
  writes: [],
} as const satisfies TableUse;
