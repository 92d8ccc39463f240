import type { TableUse } from '../../../platform/db/tables.ts';

export const tables = {
  owns: ['signal_sources', 'signal_receipts'],
  reads: [],
  writes: [],
} as const satisfies TableUse;
