import type { TableUse } from '../../../platform/db/tables.ts';

export const tables = {
  owns: ['outbox_events'],
  reads: ['audit_heads'], // which counts the events
  writes: [],
} as const satisfies TableUse;
