import type { TableUse } from '../../../platform/db/tables.ts';

export const tables = {
  owns: ['ssf_receivers', 'ssf_tokens', 'ssf_streams'],
  reads: [],
  writes: [],
} as const satisfies TableUse;
