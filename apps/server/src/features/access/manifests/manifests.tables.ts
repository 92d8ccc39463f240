import type { TableUse } from '../../../platform/db/tables.ts';

export const tables = {
  owns: ['manifests', 'manifest_versions'],
  reads: ['developers'],
  writes: [],
} as const satisfies TableUse;
