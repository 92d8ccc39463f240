import type { TableUse } from '../../../platform/db/tables.ts';

export const tables = {
  owns: { usage_daily: { most: 400 } },
  reads: [],
  writes: [],
} as const satisfies TableUse;
