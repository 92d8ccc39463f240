import type { TableUse } from '../../../platform/db/tables.ts';

export const tables = {
  owns: { agent_workloads: { of: 'agents', each: 20 } },
  reads: [],
  writes: [],
} as const satisfies TableUse;
