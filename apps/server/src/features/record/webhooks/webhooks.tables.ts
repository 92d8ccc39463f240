import type { TableUse } from '../../../platform/db/tables.ts';

export const tables = {
  owns: ['webhook_endpoints', 'webhook_deliveries'],
  reads: ['audit_heads'],
  writes: [],
} as const satisfies TableUse;
