import type { TableUse } from '../../../platform/db/tables.ts';

export const tables = {
  owns: { resources: { quota: 'resources', kib: 64 }, resource_index: { of: 'resources' } },
  reads: ['developers'], // a credential finds its resource and the account
  writes: [],
} as const satisfies TableUse;
