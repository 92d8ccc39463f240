import type { TableUse } from '../../../platform/db/tables.ts';

export const tables = {
  owns: { service_did_documents: 'operator', signing_keys: 'operator' },
  reads: [],
  writes: [],
} as const satisfies TableUse;
