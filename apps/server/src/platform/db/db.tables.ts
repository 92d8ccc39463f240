import type { TableUse } from './tables.ts';

export const tables = {
  owns: ['schema_migrations', 'schema_functions'],
  reads: [],
  writes: [],
} as const satisfies TableUse;
