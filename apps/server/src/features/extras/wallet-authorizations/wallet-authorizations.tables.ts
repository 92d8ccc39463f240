import type { TableUse } from '../../../platform/db/tables.ts';

export const tables = {
  owns: { wallet_authorizations: { rate: 'plan', kib: 16 } },
  reads: [],
  writes: [],
} as const satisfies TableUse;
