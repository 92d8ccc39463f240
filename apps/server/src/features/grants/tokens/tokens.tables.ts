import type { TableUse } from '../../../platform/db/tables.ts';

export const tables = {
  owns: { tokens: { rate: 'plan', kib: 8 }, refresh_tokens: { of: 'tokens', kib: 8 } },
  reads: ['agents', 'developers'], // each flow reads its facts in one function
  writes: ['auth_requests', 'grants'], // the exchange of a code consumes it and makes the grant
} as const satisfies TableUse;
