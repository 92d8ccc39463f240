import type { TableUse } from '../../../platform/db/tables.ts';

export const tables = {
  owns: { policies: { quota: 'policies', kib: 256 }, policy_versions: { most: 1 } },
  reads: ['policy_bundles'], // Cedar decides by the active one
  writes: [],
} as const satisfies TableUse;
