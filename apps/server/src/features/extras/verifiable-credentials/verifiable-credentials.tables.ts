import type { TableUse } from '../../../platform/db/tables.ts';

export const tables = {
  owns: {
    status_lists: { of: 'verifiable_credentials', kib: 20 },
    verifiable_credentials: { rate: 'plan', kib: 16 },
  },
  reads: ['agents', 'developers', 'passports'], // a verification reads how the agent is judged
  writes: [],
} as const satisfies TableUse;
