import type { TableUse } from '../../../../../../src/platform/db/tables.ts';

export const tables = {
  owns: { agents: 'operator', agent_index: 'operator', places: 'operator' },
  reads: [],
  writes: [],
} as const satisfies TableUse;
