import type { TableUse } from '../../../platform/db/tables.ts';

export const tables = {
  owns: { vault_credentials: { quota: 'vault_credentials', kib: 64 } },
  // An exchange reads the profile with the credential, and checks the others in the statement that records it.
  reads: ['tokens', 'vault_proxy_profiles'],
  writes: [],
} as const satisfies TableUse;
