import type { TableUse } from '../../../platform/db/tables.ts';

export const tables = {
  owns: ['tokens', 'refresh_tokens'],
  reads: ['agents', 'developers'], // each flow reads all it has to know in one function
  writes: ['auth_requests', 'grants'], // a code is consumed and a grant is made with the first of its tokens
} as const satisfies TableUse;
