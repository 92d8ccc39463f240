import type { TableUse } from '../../../platform/db/tables.ts';

export const tables = {
  owns: {
    anomaly_states: { most: 1 },
    anomaly_counts: { of: 'agents', each: 200, kib: 0.25 },
    anomaly_sightings: { rate: 'plan', kept: 'until they are over' },
    anomalies: { rate: 'plan', kib: 16 },
    anomaly_rules: { most: 100, kib: 16 },
    anomaly_channels: { most: 20 },
    anomaly_messages: { rate: 'plan', kept: 'until they are sent', kib: 16 },
  },
  reads: ['audit_entries', 'budget_allocations', 'budget_transactions', 'grants'], // detection looks at them
  writes: [],
} as const satisfies TableUse;
