import type { TableUse } from '../../../platform/db/tables.ts';

export const tables = {
  owns: {
    budget_allocations: { rate: 'plan' },
    budget_transactions: { rate: 'plan', kib: 12 },
    budget_entries: { of: 'budget_transactions', each: 2 },
  },
  reads: ['agents', 'grants'], // a debit reads and locks the grants above
  writes: [],
} as const satisfies TableUse;
