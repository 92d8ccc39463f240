import type { TableUse } from '../../../platform/db/tables.ts';

export const tables = {
  owns: ['vault_credentials'],
  reads: ['tokens', 'grants', 'agents'], // an exchange checks and locks them in the statement that records it
  writes: [],
} as const satisfies TableUse;
