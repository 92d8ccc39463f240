import type { TableUse } from '../../../platform/db/tables.ts';

export const tables = {
  owns: ['resources', 'resource_index'],
  reads: ['developers'], // a credential finds its resource and the account
  writes: [],
} as const satisfies TableUse;
