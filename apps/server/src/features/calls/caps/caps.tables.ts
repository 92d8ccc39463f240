import type { TableUse } from '../../../platform/db/tables.ts';

export const tables = {
  owns: {
    caps_epoch: { most: 1 },
    caps_counter: { rate: 'plan', kept: '1 day after their window' },
    caps_slot: { of: 'caps_counter' },
    caps_call: { rate: 'plan', kept: '`CAPS_CALL_RECORD_SECONDS`' },
  },
  reads: [],
  writes: [],
} as const satisfies TableUse;
