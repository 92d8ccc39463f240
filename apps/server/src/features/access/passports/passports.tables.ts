import type { TableUse } from '../../../platform/db/tables.ts';

export const tables = {
  owns: ['passports', 'principal_pseudonyms'],
  reads: [],
  writes: [],
} as const satisfies TableUse;
