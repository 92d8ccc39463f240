import type { TableUse } from '../../../platform/db/tables.ts';

export const tables = {
  owns: {
    webhook_endpoints: { quota: 'webhooks', kib: 16 },
    webhook_deliveries: { rate: 'plan', kept: '30 days' },
  },
  reads: ['audit_heads'],
  writes: [],
} as const satisfies TableUse;
