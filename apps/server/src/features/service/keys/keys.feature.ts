import { defineFeature } from '../../../feature.ts';
import { keyRoutes } from './keys.routes.ts';

export const keys = defineFeature({
  name: 'keys',
  tags: { keys: 'The public keys that verify tokens.' },
  knows: [],
  open: (house) => ({ routes: (app) => app.register(keyRoutes, house) }),
});
