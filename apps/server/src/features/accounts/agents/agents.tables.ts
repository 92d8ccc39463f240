import type { TableUse } from '../../../platform/db/tables.ts';

export const tables = { owns: ['agents', 'agent_index'], reads: [], writes: [] } as const satisfies TableUse;
