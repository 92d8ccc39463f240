import type { TableUse } from '../../../platform/db/tables.ts';

export const tables = {
  owns: ['quota_counters'],
  reads: ['agents', 'grants', 'webhook_endpoints'], // counted where a plan's limit is met
  writes: [],
} as const satisfies TableUse;
