import type { TableUse } from '../../../platform/db/tables.ts';

export const tables = {
  owns: ['grants'],
  reads: ['agents'], // the acts of a revocation name each grant's agent
  writes: [],
} as const satisfies TableUse;
