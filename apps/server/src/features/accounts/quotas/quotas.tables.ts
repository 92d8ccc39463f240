import type { TableUse } from '../../../platform/db/tables.ts';

export const tables = {
  owns: ['quota_counters'],
  reads: [],
  writes: [],
} as const satisfies TableUse;
