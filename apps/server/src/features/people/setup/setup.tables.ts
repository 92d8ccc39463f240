import type { TableUse } from '../../../platform/db/tables.ts';

export const tables = {
  owns: { setup_links: { rate: 'setupLinkWrite', kept: '30 days after their end' } },
  reads: [],
  writes: [],
} as const satisfies TableUse;
