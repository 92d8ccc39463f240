import type { TableUse } from '../../../platform/db/tables.ts';

export const tables = {
  owns: ['email_verifications', 'email_verification_index', 'verified_emails'],
  reads: [],
  writes: [],
} as const satisfies TableUse;
