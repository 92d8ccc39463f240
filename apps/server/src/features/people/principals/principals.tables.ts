import type { TableUse } from '../../../platform/db/tables.ts';

export const tables = {
  owns: { principal_sessions: { rate: 'principalSession', kept: 'until they expire' } },
  reads: [],
  writes: [],
} as const satisfies TableUse;
