import type { TableUse } from '../../../platform/db/tables.ts';

export const tables = {
  owns: { auth_requests: { quota: 'authorizations', every: 'month', kib: 16 } },
  reads: ['agents', 'developers', 'quota_counters'], // the facts that decide a request, in one function
  writes: [],
} as const satisfies TableUse;
