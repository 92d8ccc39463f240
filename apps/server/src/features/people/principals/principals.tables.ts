import type { TableUse } from '../../../platform/db/tables.ts';

export const tables = { owns: ['principal_sessions'], reads: [], writes: [] } as const satisfies TableUse;
