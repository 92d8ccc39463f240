import type { TableUse } from '../../../platform/db/tables.ts';

export const tables = {
  owns: ['auth_requests'],
  reads: ['agents'], // the write of a request locks its agent's row
  writes: [],
} as const satisfies TableUse;
