import type { TableUse } from '../../../platform/db/tables.ts';

export const tables = { owns: ['signing_keys'], reads: [], writes: [] } as const satisfies TableUse;
