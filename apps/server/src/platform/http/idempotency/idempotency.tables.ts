import type { TableUse } from '../../db/tables.ts';

export const tables = { owns: ['idempotent_answers'], reads: [], writes: [] } as const satisfies TableUse;
