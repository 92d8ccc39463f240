import type { TableUse } from '../../../platform/db/tables.ts';

export const tables = {
  owns: ['caps_epoch', 'caps_counter', 'caps_slot', 'caps_call'],
  reads: [],
  writes: [],
} as const satisfies TableUse;
