import type { TableUse } from './tables.ts';

export const tables = {
  owns: { schema_migrations: 'operator', schema_functions: 'operator' },
  reads: [],
  writes: [],
} as const satisfies TableUse;
