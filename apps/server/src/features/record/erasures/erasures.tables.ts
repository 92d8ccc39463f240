import type { TableUse } from '../../../platform/db/tables.ts';

export const tables = { owns: ['audit_erasures'], reads: [], writes: [] } as const satisfies TableUse;
