import type { TableUse } from '../../../platform/db/tables.ts';

export const tables = {
  owns: {
    approvers: { quota: 'approvers', kib: 16 },
    approver_passkeys: { of: 'approvers', each: 10 },
    approver_challenges: { rate: 'consoleSignIn', kept: 'until they expire' },
    approver_sessions: { rate: 'consoleSignIn', kept: 'until they expire' },
  },
  reads: [],
  writes: [],
} as const satisfies TableUse;
