import type { TableUse } from '../../../platform/db/tables.ts';

export const tables = {
  owns: { outbox_events: { rate: 'plan', kept: '72 hours', kib: 16 } },
  reads: ['audit_heads'], // the head counts the events
  writes: [],
} as const satisfies TableUse;
