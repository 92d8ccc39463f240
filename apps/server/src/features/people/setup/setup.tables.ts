import type { TableUse } from '../../../platform/db/tables.ts';

export const tables = { owns: ['setup_links'], reads: [], writes: [] } as const satisfies TableUse;
