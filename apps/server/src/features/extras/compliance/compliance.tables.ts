import type { TableUse } from '../../../platform/db/tables.ts';

export const tables = {
  owns: { legal_holds: { rate: 'complianceHold' } },
  reads: [],
  writes: [],
} as const satisfies TableUse;
