import type { TableUse } from '../../../platform/db/tables.ts';

export const tables = {
  owns: {
    ssf_receivers: { most: 20 },
    ssf_tokens: { rate: 'ssf', kept: 'until they expire' },
    ssf_streams: { of: 'ssf_receivers', each: 5, kib: 16 },
  },
  reads: [],
  writes: [],
} as const satisfies TableUse;
