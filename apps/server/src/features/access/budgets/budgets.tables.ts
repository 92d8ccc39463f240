import type { TableUse } from '../../../platform/db/tables.ts';

export const tables = {
  owns: ['budget_allocations', 'budget_transactions', 'budget_entries'],
  reads: ['agents', 'grants'], // a debit reads and locks the grants above
  writes: [],
} as const satisfies TableUse;
