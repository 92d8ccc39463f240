import type { TableUse } from '../../../platform/db/tables.ts';

export const tables = {
  owns: {
    email_verifications: { rate: 'emailVerify' },
    email_verification_index: { of: 'email_verifications' },
    verified_emails: { most: 1 },
  },
  reads: [],
  writes: [],
} as const satisfies TableUse;
