import type { TableUse } from '../../../platform/db/tables.ts';

export const tables = {
  owns: ['wallet_authorizations'],
  reads: [],
  writes: [],
} as const satisfies TableUse;
