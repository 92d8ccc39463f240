import type { TableUse } from '../../../platform/db/tables.ts';

export const tables = {
  owns: ['policy_bundles', 'policy_sync_secrets'],
  reads: [],
  writes: [],
} as const satisfies TableUse;
