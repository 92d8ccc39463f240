import type { TableUse } from '../../../platform/db/tables.ts';

export const tables = {
  owns: { operator_head: 'operator', operator_entries: 'operator' },
  reads: [],
  writes: [],
} as const satisfies TableUse;
