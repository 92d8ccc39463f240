import type { TableUse } from '../../../platform/db/tables.ts';

export const tables = {
  owns: ['decisions', 'decision_approvals', 'decision_cases', 'decision_channels', 'decision_notices'],
  reads: [],
  writes: [],
} as const satisfies TableUse;
