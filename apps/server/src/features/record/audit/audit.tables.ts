import type { TableUse } from '../../../platform/db/tables.ts';

export const tables = {
  owns: {
    audit_heads: { most: 1 },
    audit_entries: { rate: 'plan', kib: 16 },
    audit_checkpoints: { of: 'audit_entries' },
    audit_erased: { of: 'audit_entries' },
    audit_checks: { most: 1 },
    blocked_attempts: { most: 100 },
  },
  reads: ['audit_erasures'], // a check allows for one that still runs
  writes: ['outbox_events'], // one lock covers an entry and its event
} as const satisfies TableUse;
