import { defineFeature } from '../../../feature.ts';
import { tenantErased } from '../../../platform/db/erasure.ts';
import { on } from '../../../platform/hooks.ts';
import { pruningOfCaps } from './caps.jobs.ts';
import { eraseCaps } from './caps.repo.ts';
import { postgresCapsMeter } from './caps.service.ts';
import { tables } from './caps.tables.ts';

export const caps = defineFeature({
  name: 'caps',
  tags: {},
  tables,
  listens: [on(tenantErased, eraseCaps)],
  open: ({ db }) => ({ jobs: [pruningOfCaps(postgresCapsMeter(db, {}))] }),
});
