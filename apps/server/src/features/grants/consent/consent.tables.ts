import type { TableUse } from '../../../platform/db/tables.ts';

export const tables = {
  owns: { consent_mails: { most: 1 } },
  reads: [],
  writes: [],
} as const satisfies TableUse;
