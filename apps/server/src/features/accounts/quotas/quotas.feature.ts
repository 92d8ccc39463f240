import { defineFeature } from '../../../feature.ts';
import { tables } from './quotas.tables.ts';

export const quotas = defineFeature({
  name: 'quotas',
  tags: {},
  knows: [],
  tables,
});
