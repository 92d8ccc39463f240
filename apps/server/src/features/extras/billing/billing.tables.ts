import type { TableUse } from '../../../platform/db/tables.ts';

export const tables = {
  owns: { billing_customers: { most: 1 }, subscriptions: { most: 1 }, billing_events: 'operator' },
  reads: [],
  writes: [],
} as const satisfies TableUse;
