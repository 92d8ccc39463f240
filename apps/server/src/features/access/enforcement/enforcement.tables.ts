import type { TableUse } from '../../../platform/db/tables.ts';

export const tables = {
  owns: ['enforced_calls'],
  reads: ['developers', 'manifests'], // one function reads the facts of a call
  writes: [],
} as const satisfies TableUse;
