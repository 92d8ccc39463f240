import type { TableUse } from '../../db/tables.ts';

export const tables = {
  owns: { idempotent_answers: { rate: 'plan', kept: '1 day', kib: 64 } },
  reads: [],
  writes: [],
} as const satisfies TableUse;
