import type { TableUse } from '../../../platform/db/tables.ts';

export const tables = { owns: ['connect_sessions'], reads: [], writes: [] } as const satisfies TableUse;
