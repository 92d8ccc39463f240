import type { TableUse } from '../../../platform/db/tables.ts';

export const tables = {
  owns: ['agents', 'agent_index'],
  reads: ['developers'], // an agent of a stopped account is judged as suspended
  writes: [],
} as const satisfies TableUse;
