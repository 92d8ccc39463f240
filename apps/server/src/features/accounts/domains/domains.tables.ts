import type { TableUse } from '../../../platform/db/tables.ts';

export const tables = {
  owns: { custom_domains: { quota: 'domains' }, verified_domains: { of: 'custom_domains' } },
  reads: [],
  writes: [],
} as const satisfies TableUse;
