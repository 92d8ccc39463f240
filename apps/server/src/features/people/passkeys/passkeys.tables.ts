import type { TableUse } from '../../../platform/db/tables.ts';

export const tables = {
  owns: ['passkey_users', 'passkeys', 'passkey_challenges', 'passkey_evidence'],
  reads: [],
  writes: [],
} as const satisfies TableUse;
