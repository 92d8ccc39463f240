import type { TableUse } from '../../../platform/db/tables.ts';

export const tables = { owns: ['usage_daily'], reads: [], writes: [] } as const satisfies TableUse;
