import type { TableUse } from '../../../platform/db/tables.ts';

export const tables = { owns: ['vault_providers'], reads: [], writes: [] } as const satisfies TableUse;
