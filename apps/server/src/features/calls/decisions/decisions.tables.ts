import type { TableUse } from '../../../platform/db/tables.ts';

export const tables = {
  owns: {
    decisions: { rate: 'plan', kib: 128 },
    decision_approvals: { of: 'decisions' },
    decision_cases: { rate: 'plan' },
    decision_channels: { most: 10 },
    decision_notices: { rate: 'plan', kept: 'until they are sent', kib: 16 },
  },
  reads: [],
  writes: [],
} as const satisfies TableUse;
