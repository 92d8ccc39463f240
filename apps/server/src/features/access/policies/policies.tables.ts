import type { TableUse } from '../../../platform/db/tables.ts';

export const tables = {
  owns: ['policies', 'policy_versions'],
  reads: [],
  writes: [],
} as const satisfies TableUse;
