import type { TableUse } from '../../../platform/db/tables.ts';

export const tables = {
  owns: ['audit_heads', 'audit_entries', 'audit_checkpoints', 'blocked_attempts'],
  reads: [],
  writes: ['outbox_events'], // an entry and its event are written under one lock
} as const satisfies TableUse;
