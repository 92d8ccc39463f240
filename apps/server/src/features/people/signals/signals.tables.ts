import type { TableUse } from '../../../platform/db/tables.ts';

export const tables = {
  owns: {
    signal_sources: { of: 'sso_connections' },
    signal_receipts: { rate: 'ssfReceive', kept: '8 days' },
  },
  reads: [],
  writes: [],
} as const satisfies TableUse;
