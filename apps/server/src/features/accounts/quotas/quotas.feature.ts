import { defineFeature } from '../../../feature.ts';
import { tenantErased } from '../../../platform/db/personal-data.ts';
import type { TableUse } from '../../../platform/db/tables.ts';
import { on } from '../../../platform/hooks.ts';
import { eraseQuotas } from './quotas.repo.ts';

const tables: TableUse = {
  owns: { quota_counters: { most: 50 } },
  reads: [],
  writes: [],
};

export const quotas = defineFeature({
  name: 'quotas',
  tags: {},
  tables,
  listens: [on(tenantErased, eraseQuotas)],
});
