import type { TableUse } from '../../../platform/db/tables.ts';

export const tables = {
  owns: {
    passkey_users: { rate: 'plan' },
    passkeys: { rate: 'plan', kib: 8 },
    passkey_challenges: { rate: 'plan', kept: '15 minutes' },
    passkey_evidence: { of: 'auth_requests' },
  },
  reads: [],
  writes: [],
} as const satisfies TableUse;
