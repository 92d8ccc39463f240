import { defineFeature } from '../../../feature.ts';
import { consoleRoutes } from './console.routes.ts';

export const consoleSite = defineFeature({
  name: 'console',
  tags: {},
  open: () => ({ routes: consoleRoutes }),
});
