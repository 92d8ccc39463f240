import type { TableUse } from '../../../platform/db/tables.ts';

export const tables = {
  owns: {
    manifests: { quota: 'manifests', kib: 2 },
    // 51 versions of a connector, which have 4 MiB together. The connectors that were deleted last keep theirs.
    manifest_versions: { of: 'manifests', each: 102, kib: 80 },
  },
  reads: ['developers'],
  writes: [],
} as const satisfies TableUse;
