import type { TableUse } from '../../../platform/db/tables.ts';

export const tables = {
  owns: ['custom_domains', 'verified_domains'],
  reads: [],
  writes: [],
} as const satisfies TableUse;
