import type { TableUse } from '../../../platform/db/tables.ts';

export const tables = { owns: ['consent_mails'], reads: [], writes: [] } as const satisfies TableUse;
