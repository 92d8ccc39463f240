import type { TableUse } from '../../../platform/db/tables.ts';

export const tables = {
  owns: { audit_erasures: { rate: 'auditErasure' } },
  reads: [],
  writes: [],
} as const satisfies TableUse;
