import type { TableUse } from '../../../platform/db/tables.ts';

export const tables = {
  owns: { connect_sessions: { rate: 'connectCreate', kib: 64 } },
  reads: [],
  writes: [],
} as const satisfies TableUse;
