import type { TableUse } from '../../../../../../src/platform/db/tables.ts';

export const tables = {
  owns: ['agents', 'agent_index', 'places'],
  reads: [],
  writes: [],
} as const satisfies TableUse;
