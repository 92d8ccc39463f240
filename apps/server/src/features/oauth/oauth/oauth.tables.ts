import type { TableUse } from '../../../platform/db/tables.ts';

export const tables = {
  owns: {
    dynamic_clients: { rate: 'oauthRegister', kept: '1 day unused, 90 days after their last use', kib: 16 },
    oauth_clients: { of: 'agents', kib: 16 },
  },
  reads: ['agent_index', 'agents', 'developers'], // a client's id finds it, without its developer
  writes: [],
} as const satisfies TableUse;
