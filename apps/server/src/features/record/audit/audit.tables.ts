import type { TableUse } from '../../../platform/db/tables.ts';

export const tables = {
  owns: [
    'audit_heads',
    'audit_entries',
    'audit_checkpoints',
    'audit_erased',
    'audit_checks',
    'blocked_attempts',
  ],
  reads: [],
  writes: ['outbox_events'], // one lock covers an entry and its event
} as const satisfies TableUse;
