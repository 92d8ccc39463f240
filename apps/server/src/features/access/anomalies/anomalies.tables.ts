import type { TableUse } from '../../../platform/db/tables.ts';

export const tables = {
  owns: [
    'anomaly_states',
    'anomaly_counts',
    'anomaly_sightings',
    'anomalies',
    'anomaly_rules',
    'anomaly_channels',
    'anomaly_messages',
  ],
  reads: ['audit_entries', 'budget_allocations', 'budget_transactions', 'grants'], // detection looks at them
  writes: [],
} as const satisfies TableUse;
