import { defineFeature } from '../../../feature.ts';
import { tenantErased } from '../../../platform/db/erasure.ts';
import { on } from '../../../platform/hooks.ts';
import { eraseQuotas } from './quotas.repo.ts';
import { tables } from './quotas.tables.ts';

export const quotas = defineFeature({
  name: 'quotas',
  tags: {},
  tables,
  listens: [on(tenantErased, eraseQuotas)],
});
