import type { TableUse } from '../../../platform/db/tables.ts';

export const tables = {
  owns: { policy_bundles: { quota: 'bundles', kib: 5120 }, policy_sync_secrets: { most: 1 } },
  reads: [],
  writes: [],
} as const satisfies TableUse;
