import type { TableUse } from '../../../platform/db/tables.ts';

export const tables = {
  owns: ['billing_customers', 'subscriptions', 'billing_events'],
  reads: [],
  writes: [],
} as const satisfies TableUse;
