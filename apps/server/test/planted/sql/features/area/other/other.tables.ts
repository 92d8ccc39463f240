import type { TableUse } from '../../../../../../src/platform/db/tables.ts';

export const tables = {
  owns: ['agent_index', 'developers', 'policies'],
  reads: ['api_keys'],
  writes: ['agents'],
} as const satisfies TableUse;
