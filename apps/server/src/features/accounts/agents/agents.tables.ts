import type { TableUse } from '../../../platform/db/tables.ts';

export const tables = {
  owns: { agents: { rate: 'plan', kib: 16 }, agent_index: { of: 'agents' } },
  reads: ['developers'], // an agent of a stopped account is judged as suspended
  writes: [],
} as const satisfies TableUse;
