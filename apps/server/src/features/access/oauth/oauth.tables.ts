import type { TableUse } from '../../../platform/db/tables.ts';

export const tables = {
  owns: ['dynamic_clients', 'oauth_clients'],
  reads: ['agent_index', 'agents', 'developers'], // a client's id finds it, without its developer
  writes: [],
} as const satisfies TableUse;
