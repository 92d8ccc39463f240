import type { TableUse } from '../../../platform/db/tables.ts';

export const tables = {
  owns: { enforced_calls: { rate: 'plan', kept: '`CAPS_CALL_RECORD_SECONDS`' } },
  reads: ['developers', 'manifests'], // one function reads the facts of a call
  writes: [],
} as const satisfies TableUse;
