import type { TableUse } from '../../../platform/db/tables.ts';

export const tables = {
  owns: ['status_lists', 'verifiable_credentials'],
  reads: ['passports'],
  writes: [],
} as const satisfies TableUse;
