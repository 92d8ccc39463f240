import type { TableUse } from '../../../platform/db/tables.ts';

export const tables = {
  owns: { quota_counters: { most: 50 } },
  reads: [],
  writes: [],
} as const satisfies TableUse;
