import type { TableUse } from '../../../platform/db/tables.ts';

export const tables = {
  owns: ['approvers', 'approver_passkeys', 'approver_challenges', 'approver_sessions'],
  reads: [],
  writes: [],
} as const satisfies TableUse;
