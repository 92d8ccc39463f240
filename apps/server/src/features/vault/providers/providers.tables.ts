import type { TableUse } from '../../../platform/db/tables.ts';

export const tables = {
  owns: { vault_providers: { quota: 'vault_providers', kib: 64 } },
  reads: [],
  writes: [],
} as const satisfies TableUse;
