import type { TableUse } from '../../../../../../src/platform/db/tables.ts';

export const tables = {
  owns: { agent_index: 'operator', developers: 'operator', policies: 'operator' },
  reads: ['api_keys'],
  writes: ['agents'],
} as const satisfies TableUse;
