import type { TableUse } from '../../../platform/db/tables.ts';

export const tables = {
  owns: ['assertion_trusts', 'assertion_clients', 'assertion_grants', 'assertion_uses'],
  reads: [],
  writes: [],
} as const satisfies TableUse;
