import type { TableUse } from '../../../platform/db/tables.ts';

export const tables = {
  owns: ['service_did_documents', 'signing_keys'],
  reads: [],
  writes: [],
} as const satisfies TableUse;
