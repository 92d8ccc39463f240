import { defineFeature } from '../../../feature.ts';
import { acts } from './principals.acts.ts';
import { rates } from './principals.rates.ts';
import { principalRoutes } from './principals.routes.ts';
import { sessionReader } from './principals.session.service.ts';
import { tables } from './principals.tables.ts';

export const principals = defineFeature({
  name: 'principals',
  tags: { principals: 'Calls of the page on which a person sees and ends grants.' },
  knows: ['audit', 'authorization', 'grants', 'keys'],
  tables,
  acts,
  rates,
  open: (house) => ({
    routes: (app) => app.register(principalRoutes, house),
    credentials: { session: sessionReader(house) },
  }),
});
