import type { TableUse } from '../../../platform/db/tables.ts';

export const tables = {
  owns: ['auth_requests'],
  reads: ['agents'], // a request is written while its agent's row is shared
  writes: [],
} as const satisfies TableUse;
