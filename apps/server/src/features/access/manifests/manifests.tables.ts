import type { TableUse } from '../../../platform/db/tables.ts';

export const tables = {
  owns: {
    manifests: { quota: 'manifests', kib: 2 },
    /* 51 versions, which have 4 MiB together; the 20 connectors deleted last keep theirs */ manifest_versions:
      { of: 'manifests', each: 102, kib: 80 },
  },
  reads: ['developers'],
  writes: [],
} as const satisfies TableUse;
