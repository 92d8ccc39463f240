import type { TableUse } from '../../../platform/db/tables.ts';

export const tables = {
  owns: ['developers', 'api_keys', 'api_key_index'],
  reads: [],
  writes: [],
} as const satisfies TableUse;
