import type { TableUse } from '../../../platform/db/tables.ts';

export const tables = {
  owns: {
    developers: { rate: 'signupHourly' },
    api_keys: { rate: 'keys', kib: 16 },
    api_key_index: { of: 'api_keys' },
  },
  reads: [],
  writes: [],
} as const satisfies TableUse;
