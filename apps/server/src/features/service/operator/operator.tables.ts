import type { TableUse } from '../../../platform/db/tables.ts';

export const tables = {
  owns: ['operator_head', 'operator_entries'],
  reads: [],
  writes: [],
} as const satisfies TableUse;
