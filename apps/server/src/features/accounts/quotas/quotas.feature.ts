import { defineFeature } from '../../../feature.ts';

export const quotas = defineFeature({
  name: 'quotas',
  tags: {},
  knows: [],
});
