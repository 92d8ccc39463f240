import type { TableUse } from '../../../platform/db/tables.ts';

export const tables = {
  owns: ['status_lists', 'verifiable_credentials'],
  reads: ['agents', 'developers', 'passports'], // a verification reads how the agent is judged
  writes: [],
} as const satisfies TableUse;
