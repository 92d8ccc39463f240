import type { TableUse } from '../../../platform/db/tables.ts';

export const tables = {
  owns: { passports: { rate: 'plan', kib: 16 }, principal_pseudonyms: { rate: 'plan' } },
  reads: [],
  writes: [],
} as const satisfies TableUse;
