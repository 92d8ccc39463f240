import type { TableUse } from '../../../platform/db/tables.ts';

export const tables = { owns: ['agent_workloads'], reads: [], writes: [] } as const satisfies TableUse;
